/// One thing that is fuzzed: a pure function of bytes that throws a ``FuzzFinding`` where an oracle disagrees.
struct FuzzTarget: Sendable {
    let name: String
    /// The longest input that is worth trying, in bytes.
    let limit: Int
    let run: @Sendable ([UInt8]) throws -> Void

    init(_ name: String, limit: Int = 2_048, _ run: @escaping @Sendable ([UInt8]) throws -> Void) {
        (self.name, self.limit, self.run) = (name, limit, run)
    }

    static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }
}
