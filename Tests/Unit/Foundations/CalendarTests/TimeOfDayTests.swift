import Calendar
import Testing

@Suite struct TimeOfDayTests {
    @Test("only HH:mm of a real day is a time of day")
    func reading() {
        #expect(TimeOfDay.minute(of: "00:00") == 0)
        #expect(TimeOfDay.minute(of: "23:59") == 1_439)
        for text in ["24:00", "12:60", "1:00", "12:5", "", "12-30", "１２:30"] { #expect(!TimeOfDay.isValid(text)) }
    }
}
