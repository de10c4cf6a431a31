extension JSONValue {
    /// How many bytes ``serialized()`` has, escapes included.
    package var serializedCount: Int { JSONWriter.count(of: self) }

    /// The value as compact JSON text. Object members keep their order; a number that JSON cannot say becomes `null`.
    package func serialized() -> String {
        String(unsafeUninitializedCapacity: JSONWriter.count(of: self)) { buffer in
            var writer = JSONWriter(UnsafeMutableRawBufferPointer(buffer))
            writer.write(self)
            return writer.count
        }
    }

    /// The same as UTF-8.
    package func serializedBytes() -> [UInt8] {
        let count = JSONWriter.count(of: self)
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
            var writer = JSONWriter(UnsafeMutableRawBufferPointer(buffer))
            writer.write(self)
            written = writer.count
        }
    }
}
