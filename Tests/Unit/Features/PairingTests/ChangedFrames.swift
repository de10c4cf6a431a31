import JSON
import TestSupport
import Wire

@testable import Pairing

/// What a relay does to one member of a frame.
enum MemberChange: CaseIterable, Sendable {
    case removed, null, emptied, bool, number, text, list, object
    /// The same member of another honest run.
    case swapped

    func value(of member: JSONValue, swappedWith other: JSONValue?) -> JSONValue? {
        switch self {
        case .removed: nil
        case .null: .null
        case .emptied:
            switch member {
            case .string: ""
            case .array: []
            case .object: [:]
            case .null, .bool, .integer, .double: 0
            }
        case .bool: true
        case .number: 1
        case .text: "1"
        case .list: [1]
        case .object: ["seal": [1]]
        case .swapped: other ?? .null
        }
    }
}

/// What a relay does to a frame as a whole.
enum FrameChange: CaseIterable, Sendable {
    case lost, opened, openedAndSealed, renamed, swapped
}

/// One change of one kind of frame.
struct RelayChange: Sendable, CustomStringConvertible {
    enum Kind: Sendable {
        case member([String], MemberChange)
        case frame(FrameChange)
    }

    let frame: String
    let kind: Kind
    /// The seal is off afterwards.
    var isOpened = false

    var description: String { "\(frame): \(kind)\(isOpened ? ", opened" : "")" }

    /// - Parameter other: the same frame of another honest run.
    func applied(to letter: PairingTable.Letter, other: JSONValue?) -> [PairingTable.Letter] {
        var letter = letter
        if isOpened { letter.isSealed = false }
        switch kind {
        case .member(let path, let change):
            letter.payload = Self.set(path[...], of: letter.payload, other, change)
        case .frame(.lost): return []
        case .frame(.opened): letter.isSealed = false
        // The relay has made a frame of it that only names itself.
        case .frame(.openedAndSealed):
            letter.isSealed = true
            letter.from = Fixture.evil
        case .frame(.renamed):
            letter.from = Fixture.evil
            var payload = letter.payload.object ?? [:]
            for key in ["mobileDid", "pcPeerId"] where payload[key] != nil {
                payload[key] = .string(Fixture.evil.text)
            }
            letter.payload = .object(payload)
        case .frame(.swapped): letter.payload = other ?? .null
        }
        return [letter]
    }

    private static func set(
        _ path: ArraySlice<String>, of value: JSONValue, _ other: JSONValue?, _ change: MemberChange
    ) -> JSONValue {
        guard let key = path.first, var object = value.object, let member = object[key] else { return value }
        object[key] =
            path.count == 1
            ? change.value(of: member, swappedWith: other?[key])
            : set(path.dropFirst(), of: member, other?[key], change)
        return .object(object)
    }

    /// The kind of a frame: its type, its step, and whether it reveals random bytes.
    static func kind(of letter: PairingTable.Letter) -> String {
        let step = letter.payload["payload"]?["step"]?.integer.map { " \($0)" } ?? ""
        let reveals = letter.payload["bw"]?["random"] == nil ? "" : " revealing"
        return (letter.payload["type"]?.string ?? "") + step + reveals
    }

    /// Every change of every member of these frames, and of the frames themselves.
    static func all(of frames: [HonestFrame]) -> [RelayChange] {
        frames.flatMap { frame in
            let members = paths(in: frame.payload)
            let isOpened = frame.isSealed ? [false, true] : [false]
            return members.flatMap { path in
                MemberChange.allCases.flatMap { change in
                    isOpened.map { RelayChange(frame: frame.kind, kind: .member(path, change), isOpened: $0) }
                }
            } + FrameChange.allCases.map { RelayChange(frame: frame.kind, kind: .frame($0)) }
        }
    }

    private static func paths(in value: JSONValue) -> [[String]] {
        guard let object = value.object else { return [] }
        return object.members.flatMap { member in
            [[member.key]] + paths(in: member.value).map { [member.key] + $0 }
        }
    }
}

/// A frame as an honest side sent it.
struct HonestFrame {
    let kind: String
    let payload: JSONValue
    let isSealed: Bool
}

/// What an honest run sends, one of each kind.
final class HonestRun {
    private(set) var frames: [HonestFrame] = []

    func see(_ letter: PairingTable.Letter) {
        let kind = RelayChange.kind(of: letter)
        guard self[kind] == nil else { return }
        frames.append(HonestFrame(kind: kind, payload: letter.payload, isSealed: letter.isSealed))
    }

    subscript(kind: String) -> JSONValue? { frames.first { $0.kind == kind }?.payload }
}

/// A relay that makes these changes, each of them always or only once.
final class ChangingRelay {
    private var left: [(change: RelayChange, times: Int)]
    private let other: HonestRun
    private(set) var hits = 0
    /// So many letters are others than they were.
    private(set) var effects = 0

    init(_ changes: [RelayChange], times: Int = .max, other: HonestRun) {
        left = changes.map { ($0, times) }
        self.other = other
    }

    func carry(_ letter: PairingTable.Letter) -> [PairingTable.Letter] {
        let kind = RelayChange.kind(of: letter)
        var letters = [letter]
        for index in left.indices where left[index].change.frame == kind && left[index].times > 0 {
            left[index].times -= 1
            hits += 1
            letters = letters.flatMap { left[index].change.applied(to: $0, other: other[kind]) }
        }
        if letters.map(\.payload) != [letter.payload] || letters.map(\.isSealed) != [letter.isSealed] { effects += 1 }
        return letters
    }
}
