/// Metrics in Prometheus's text format, version 0.0.4.
package struct MetricsText {
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    package private(set) var text = ""

    package init() {}

    package mutating func counter(_ name: String, _ help: String, _ value: UInt64) {
        head(name, help, "counter")
        line(name, "\(value)")
    }

    /// One sample for each value of a label.
    package mutating func counter(
        _ name: String, _ help: String, by label: String, _ values: [(value: String, count: UInt64)]
    ) {
        head(name, help, "counter")
        for (value, count) in values { line("\(name){\(label)=\"\(Self.escaped(value))\"}", "\(count)") }
    }

    package mutating func gauge(_ name: String, _ help: String, _ value: Double) {
        head(name, help, "gauge")
        line(name, Self.number(value))
    }

    package mutating func gauge(_ name: String, _ help: String, _ value: Int) { gauge(name, help, Double(value)) }

    package mutating func gauge(_ name: String, _ help: String, labels: [(String, String)]) {
        head(name, help, "gauge")
        let texts = labels.map { "\($0.0)=\"\(Self.escaped($0.1))\"" }
        line("\(name){\(texts.joined(separator: ","))}", "1")
    }

    package mutating func histogram(_ name: String, _ help: String, _ histogram: Histogram) {
        head(name, help, "histogram")
        var count: UInt64 = 0
        for (bound, own) in zip(histogram.bounds, histogram.counts) {
            count &+= own
            line("\(name)_bucket{le=\"\(Self.number(bound))\"}", "\(count)")
        }
        line("\(name)_bucket{le=\"+Inf\"}", "\(histogram.count)")
        line("\(name)_sum", Self.number(histogram.sum))
        line("\(name)_count", "\(histogram.count)")
    }

    private mutating func head(_ name: String, _ help: String, _ type: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
    }

    private mutating func line(_ name: String, _ value: String) { text += "\(name) \(value)\n" }

    private static func number(_ value: Double) -> String {
        guard let whole = Int64(exactly: value) else { return "\(value)" }
        return "\(whole)"
    }

    private static func escaped(_ value: String) -> String {
        var text = ""
        for character in value {
            switch character {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            default: text.append(character)
            }
        }
        return text
    }
}
