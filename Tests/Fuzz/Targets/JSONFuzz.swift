@testable import JSON

extension FuzzTarget {
    /// Our reader accepts what jansson accepts, with the same values, and what is written reads back.
    static let json = FuzzTarget("json", limit: 512) { bytes in
        let depth = JSONValue.depthLimit
        let whole = Result { try bytes.withUnsafeBytes { try JSONValue(parsing: $0, depth: depth) } }
        let jansson = Result { try bytes.withUnsafeBytes { try JSONValue(jansson: $0, depth: depth) } }
        switch (whole, jansson) {
        case (.success(let ours), .success(let theirs)):
            try require(ours == theirs, "other values than jansson's")
            let text = ours.serialized()
            try require(try JSONValue(parsing: text) == ours, "what was written reads as something else")
            try require(try JSONValue(parsing: text).serialized() == text, "it is written in another way the next time")
        case (.failure, .failure): break
        case (.success, .failure(let error)): throw FuzzFinding("accepted; jansson says: \(error)")
        case (.failure(let error), .success): throw FuzzFinding("refused: \(error); jansson accepts it")
        }
        if let value = try? whole.get() {
            let pointer = JSONPointer(String(decoding: bytes.prefix(24), as: UTF8.self))
            if let pointer { _ = value[pointer] }
        }
    }
}
