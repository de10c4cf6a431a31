import JSON
import Testing

@testable import Alerts

@Suite("Which address is the image's")
struct ImageSourceTests {
    private func first(_ text: String) throws -> String? {
        ImageSource.first(in: try #require(try JSONValue(parsing: text).object))
    }

    @Test(
        "Each of the five places counts, beside the data and inside it",
        arguments: [
            #"{"imageUrl":"https://a.test/"}"#, #"{"data":{"imageUrl":"https://a.test/"}}"#,
            #"{"fcm_options":{"image":"https://a.test/"}}"#, #"{"notification":{"image":"https://a.test/"}}"#,
            #"{"media_url":"https://a.test/"}"#, #"{"data":{"media_url":"https://a.test/"}}"#,
            #"{"data":{"fcm_options":{"image":"https://a.test/"}}}"#,
            #"{"data":{"fcm_options":"{\"image\":\"https://a.test/\"}"}}"#,
            #"{"data":"{\"imageUrl\":\"https://a.test/\"}"}"#,
        ])
    func places(payload: String) throws {
        #expect(try first(payload) == "https://a.test/")
    }

    @Test("The order is: imageUrl, data.imageUrl, fcm_options.image, notification.image, media_url")
    func order() throws {
        var places: [(String, JSONObject)] = [
            ("1", ["imageUrl": "https://1.test/"]), ("2", ["data": ["imageUrl": "https://2.test/"]]),
            ("3", ["fcm_options": ["image": "https://3.test/"]]), ("4", ["notification": ["image": "https://4.test/"]]),
            ("5", ["media_url": "https://5.test/"]),
        ]
        while let first = places.first {
            var push = JSONObject()
            for (_, members) in places.reversed() { push.merge(members) }
            #expect(ImageSource.first(in: push) == "https://\(first.0).test/")
            places.removeFirst()
        }
        #expect(ImageSource.first(in: [:]) == nil)
    }

    @Test(
        "The first that is valid wins, not the first that is present",
        arguments: [
            #""http://a.test/x.png""#, #""""#, "null", "7", "true", #"{"url":"https://a.test/"}"#,
            #"["https://a.test/"]"#,
            #""https://""#, #""https://user@a.test/""#, #""https://127.1/""#, #""file:///etc/passwd""#,
            #""a.test/x.png""#,
            #"" https://a.test/""#, #""https://a.test/\u0000""#, #""javascript:alert(1)""#,
            #""data:image/png;base64,AA""#,
        ])
    func validity(value: String) throws {
        #expect(try first(#"{"imageUrl":\#(value),"media_url":"https://b.test/y"}"#) == "https://b.test/y")
        #expect(try first(#"{"imageUrl":\#(value)}"#) == nil)
        #expect(
            try first(#"{"imageUrl":\#(value),"data":\#(value),"fcm_options":\#(value),"notification":\#(value)}"#)
                == nil)
    }

    @Test(
        "Where none is valid the best is the first that says anything, so that the fetch can tell why not",
        arguments: [
            (#"{"imageUrl":"http://a.test/","media_url":"https://b.test/"}"#, "https://b.test/"),
            (#"{"imageUrl":"http://a.test/","media_url":"ftp://b.test/"}"#, "http://a.test/"),
            (#"{"imageUrl":"","data":{"imageUrl":7,"media_url":"a.test"}}"#, "a.test"),
            (#"{"imageUrl":"","data":{"imageUrl":null},"fcm_options":{}}"#, nil),
        ])
    func best(payload: String, address: String?) throws {
        #expect(ImageSource.best(in: try #require(try JSONValue(parsing: payload).object)) == address)
    }

    @Test("The address comes back in its checked form; escapes in its path stay what they are")
    func form() throws {
        #expect(
            try first(#"{"imageUrl":"HTTPS://A.test:443/%2F..%2Fetc%2Fpasswd?x#y"}"#)
                == "https://a.test/%2F..%2Fetc%2Fpasswd?x")
    }
}
