import JSON

extension CaseIterable where Self: RawRepresentable, RawValue == String {
    /// A parameter that names one of these, or is `NULL`.
    package static func named(_ text: String?, _ parameter: String) throws(HostError) -> Self? {
        guard let text else { return nil }
        guard let named = Self(rawValue: text) else {
            let names = allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
            throw HostError(
                .invalid, "\(parameter) must be one of \(names), or NULL", detail: ["field": .string(parameter)])
        }
        return named
    }
}
