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
        for end in [{ device.perform(.cancel(.show)) }, { device.perform(.cancel(nil)) }, { device.perform(.stop) }] {
            let shown = await outcome { then in
                device.perform(.show(5_000), then: then)
                end()
            }
            #expect(shown.error?.detail["reason"] == "cancelled")
        }
        for end in [{ device.perform(.cancel(.code)) }, { device.perform(.cancel(nil)) }, { device.perform(.stop) }] {
            let typed = await outcome { then in
                device.perform(.type("123456-789012", 5_000), then: then)
                end()
            }
            #expect(typed.error?.detail["reason"] == "cancelled")
        }
        #expect(await device.outcome(.show(5_000)).error?.detail["reason"] == "no_relay")
        await device.close()
    }
}
