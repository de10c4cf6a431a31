import Hosting
import JSON
import TestSupport
import Testing
import Transport

@testable import Device

/// A code that names no relay: one is looked for first.
@Suite(.timeLimit(.minutes(1)))
struct SearchTests {
    @Test("a flow that still looks for its relay is cancelled, and ended by a stop; the next one is not")
    func cancelled() async throws {
        let host = RecordingHost()
        let device = try Device.open(#"{"state_dir":":memory:","follow_system":false}"#, host.channel).0
        let showEnds: [DeviceCall] = [.cancel(.show), .cancel(nil), .stop]
        for end in showEnds {
            // Both in one turn of the loop: where no search is possible, it ends in the next one.
            let shown = await outcome { then in
                EventLoop.post {
                    device.perform(.show(5_000), then: then)
                    device.perform(end)
                }
            }
            #expect(shown.error?.detail["reason"] == "cancelled")
        }
        let codeEnds: [DeviceCall] = [.cancel(.code), .cancel(nil), .stop]
        for end in codeEnds {
            let typed = await outcome { then in
                EventLoop.post {
                    device.perform(.type("123456-789012", 5_000), then: then)
                    device.perform(end)
                }
            }
            #expect(typed.error?.detail["reason"] == "cancelled")
        }
        #expect(await device.outcome(.show(5_000)).error?.detail["reason"] == "no_relay")
        await device.close()
    }
}
