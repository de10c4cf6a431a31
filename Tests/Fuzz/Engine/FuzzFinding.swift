/// An oracle disagrees: the code does not crash, and what it does is wrong.
struct FuzzFinding: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Throws a finding unless the condition holds.
@inline(__always)
func require(_ condition: Bool, _ what: @autoclosure () -> String) throws(FuzzFinding) {
    if !condition { throw FuzzFinding(what()) }
}
