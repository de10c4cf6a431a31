// A Swift archive of somebody else's, in one program with ours: dynamic casts, generics, and names that ours has too.

protocol Countable {
    var count: Int { get }
}

struct Fixed: Countable {
    var count: Int { 3 }
}

struct Device: Hashable {
    var number: Int
}

private func value(_ number: Int) -> Any {
    number.isMultiple(of: 2) ? Fixed() : Device(number: number)
}

/// 1342 when the runtime finds what belongs to this archive.
@_cdecl("another_count")
public func anotherCount() -> Int32 {
    var sum = 0
    for number in 0..<4 {
        let some = value(number)
        if let countable = some as? any Countable { sum += countable.count }
        if some is AnyHashable { sum += 10 }
    }
    let table: Any = ["a": [1, 2, 3]]
    if let typed = table as? [String: [Int]] { sum += 100 * (typed["a"]?.count ?? 0) }
    sum += "\(table)".count
    if _typeByName("Si") == Int.self { sum += 1000 }
    return Int32(sum)
}
