import Alerts
import Testing
import Wire

@Suite struct AlertLevelTests {
    @Test("what is urgent passes quiet hours, what is low makes no noise")
    func priorities() {
        #expect(AlertLevel(.urgent) == .timeSensitive)
        #expect(AlertLevel(.high) == .active)
        #expect(AlertLevel(.normal) == .active)
        #expect(AlertLevel(.low) == .passive)
    }
}
