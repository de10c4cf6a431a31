/// A notification's priority, as users write it.
enum Priority {
    static let names = ["low", "normal", "high", "urgent"]

    /// Names, and the numbers of ntfy and its clients.
    static let words = names + ["1", "2", "3", "4", "5"]

    /// The name that a word stands for; any other word as it is.
    static func name(of word: String) -> String {
        switch word {
        case "1", "2": "low"
        case "3": "normal"
        case "4": "high"
        case "5": "urgent"
        default: word
        }
    }
}
