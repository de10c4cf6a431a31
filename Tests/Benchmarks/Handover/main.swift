// What one push costs between the socket and the host, without the disk: decoded, told apart from doubled ones, written
// down for the callback. Prints nanoseconds a push, as the bound that it is held against (skill.sh) does.
import Delivery
import Glibc
import Hosting
import JSON
import Notifications
import Wire

let size = 400
let pool = 4096
/// Pushes in each of the ten rounds.
let batch = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 100_000

/// A push as a relay routes it: an id that looks like a UUID, one escape, some UTF-8, filled up to 400 bytes.
func frame(_ number: Int) -> [UInt8] {
    let hex = String(UInt32(truncatingIfNeeded: number &* 2_654_435_761), radix: 16)
    let id = String(repeating: "0", count: 8 - hex.count) + hex + "-5b1c-4e0f-9a7d-3c2b1a0f\(1_000 + number)"
    let head =
        #"{"type":"message","from":"desktop-4f1c","payload":{"type":"chainlesschain:event","payload":{"event":"#
        + #""notification.received","notificationId":"\#(id)","title":"Build finished","body":"café: done\n"#
    let tail =
        #"","priority":"normal","source":"pc","timestamp":1715760000000,"#
        + #""data":{"category":"ci","thread":"builds"}}},"timestamp":1715760000000}"#
    var bytes = Array(head.utf8)
    let filler = Array("the quick brown fox jumps over the lazy dog ".utf8)
    while bytes.count + tail.utf8.count < size { bytes.append(filler[bytes.count % filler.count]) }
    return bytes + tail.utf8
}

func now() -> Double {
    var moment = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &moment)
    return Double(moment.tv_sec) * 1e9 + Double(moment.tv_nsec)
}

struct Receiver {
    var receiver = PushReceiver()
    var check = 0

    /// Whether the push was new.
    mutating func receive(_ bytes: [UInt8]) -> Bool {
        let parsed = try? bytes.withUnsafeBytes { buffer throws(SignallingFrameError) in
            try SignallingFrame(parsing: buffer)
        }
        guard case .message(let message) = parsed, case .event(let event) = Payload(decoding: message.payload),
            let from = message.from
        else { return false }
        let notification = Notification(event, receivedAt: 0)
        guard case .commit = receiver.received(ReceivedPush(desktop: from, notification: notification), now: 0).first
        else { return false }
        _ = receiver.committed([.stored])
        let told = HostEvent(.notificationReceived, desktop: from.text, data: notification.receivedData()).serialized()
        check &+= told.utf8.count
        return true
    }
}

let frames = (0..<pool).map(frame)
var receiver = Receiver()

var times: [Double] = []
for round in 0..<10 {
    let begin = now()
    var admitted = 0
    for number in 0..<batch where receiver.receive(frames[number % pool]) { admitted += 1 }
    let each = (now() - begin) / Double(batch)
    guard admitted == batch else { fatalError("\(batch - admitted) of \(batch) pushes were not new") }
    if round > 0 { times.append(each) }
}
times.sort()
print(#"{"new_ns":\#(Int(times[times.count / 2])),"bytes":\#(frames[0].count),"check":\#(receiver.check)}"#)
