import Hosting
import JSON
import TestSupport
import Testing

@testable import Device

/// A code that names no relay: one is looked for first.
@Suite(.timeLimit(.minutes(1)))
struct SearchTests {
    @Test("a flow that still looks for its relay is cancelled, and ended by a stop; the next one is not")
    func cancelled() async throws {
        let host = RecordingHost()
        let device = try Device.open(#"{"state_dir":":memory:","follow_system":false}"#, host.channel).0
        for end in [{ device.cancel(.show) }, { device.cancel(nil) }, { device.stop() }] {
            let shown = await outcome { then in
                device.show(timeout: 5_000, then: then)
                end()
            }
            #expect(shown.error?.detail["reason"] == "cancelled")
        }
        for end in [{ device.cancel(.code) }, { device.cancel(nil) }, { device.stop() }] {
            let typed = await outcome { then in
                device.type("123456-789012", timeout: 5_000, then: then)
                end()
            }
            #expect(typed.error?.detail["reason"] == "cancelled")
        }
        #expect(await outcome { device.show(timeout: 5_000, then: $0) }.error?.detail["reason"] == "no_relay")
        await device.close()
    }
}
