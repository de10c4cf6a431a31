/// The version of the library; a test holds it against `BW_VERSION` of the header.
package let libraryVersion: StaticString = "0.1.0"
