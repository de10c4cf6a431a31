/// A moment as the wire says it: milliseconds since 1970-01-01 00:00 UTC.
package typealias EpochMilliseconds = Int64
