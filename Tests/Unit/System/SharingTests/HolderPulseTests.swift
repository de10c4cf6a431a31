import Testing

@testable import Sharing

@Suite struct HolderPulseTests {
    private func ticks(_ count: Int, _ pulse: inout HolderPulse) -> [HolderPulse.Action] {
        (0..<count).map { _ in pulse.tick() }
    }

    @Test("A holder that answers nothing is asked once, and then counts as silent, until it is heard")
    func silent() {
        var pulse = HolderPulse()
        let first = ticks(6, &pulse)
        #expect(first == [.wait, .ask, .wait, .wait, .silent, .silent])
        #expect(pulse.isSilent && pulse.isWaiting)
        var wasSilent = pulse.heard()
        #expect(wasSilent && !pulse.isSilent && !pulse.isWaiting)
        wasSilent = pulse.heard()
        #expect(!wasSilent)
        let next = ticks(2, &pulse)
        #expect(next == [.wait, .ask])
    }

    @Test("Any frame is a sign of life")
    func answers() {
        var pulse = HolderPulse()
        for _ in 0..<10 {
            let told = ticks(4, &pulse)
            #expect(told == [.wait, .ask, .wait, .wait])
            let wasSilent = pulse.heard()
            #expect(!wasSilent)
        }
    }
}
