public import CBellwire
import Glibc
import Hosting
import JSON
import QR

// bellwire.h, "QR".

@_cdecl("bw_qr_terminal") @implementation
public func bw_qr_terminal(
    _ text: UnsafePointer<CChar>?, _ plain: Int32, _ drawing: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    entry { () throws(HostError) in
        let drawing = try output(drawing, "drawing")
        try give(try code(of: text).terminalDrawing(plain: plain != 0), to: drawing)
    }
}

@_cdecl("bw_qr_svg") @implementation
public func bw_qr_svg(
    _ text: UnsafePointer<CChar>?, _ svg: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    entry { () throws(HostError) in
        let svg = try output(svg, "svg")
        try give(try code(of: text).svg(), to: svg)
    }
}

@_cdecl("bw_qr_png") @implementation
public func bw_qr_png(
    _ text: UnsafePointer<CChar>?, _ scale: Int32, _ png: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?,
    _ size: UnsafeMutablePointer<Int>?
) -> bw_status {
    entry { () throws(HostError) in
        let png = try output(png, "png")
        let size = try output(size, "size")
        let code = try code(of: text)
        let image = try drawn { () throws(QRError) in try code.png(scale: Int(scale)) }
        png.pointee = image.baseAddress
        size.pointee = image.count
    }
}

@_cdecl("bw_qr_read") @implementation
public func bw_qr_read(
    _ path: UnsafePointer<CChar>?, _ texts_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    entry { () throws(HostError) in
        let output = try output(texts_json, "texts_json")
        let path = try text(path, "path")
        try give(try drawn { () throws(QRError) in try QRReader.read(path: path) }, to: output)
    }
}

@_cdecl("bw_qr_read_pixels") @implementation
public func bw_qr_read_pixels(
    _ grey: UnsafePointer<UInt8>?, _ width: Int32, _ height: Int32, _ stride: Int32,
    _ texts_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    entry { () throws(HostError) in
        let output = try output(texts_json, "texts_json")
        guard let grey else {
            throw HostError(.invalid, "grey is NULL; pass the pixels", detail: ["field": "grey"])
        }
        let texts = try drawn { () throws(QRError) in
            try QRReader.read(grey: grey, width: Int(width), height: Int(height), stride: Int(stride))
        }
        try give(texts, to: output)
    }
}

private func code(of text: UnsafePointer<CChar>?) throws(HostError) -> QRCode {
    let text = try CABI.text(text, "text")
    return try drawn { () throws(QRError) in try QRCode(text) }
}

private func give(
    _ texts: [String], to pointer: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
) throws(HostError) {
    try give(JSONValue.array(texts.map { .string($0) }).serialized(), to: pointer)
}

/// The module's error as the host gets it.
private func drawn<Result>(_ body: () throws(QRError) -> Result) throws(HostError) -> Result {
    do throws(QRError) { return try body() } catch {
        switch error.code {
        case .text, .scale, .pixels:
            let field = error.code == .text ? "text" : error.code == .scale ? "scale" : "width"
            throw HostError(.invalid, error.message, detail: ["field": .string(field)])
        case .image: throw HostError(.invalid, error.message, detail: ["field": "path"])
        case .file: throw HostError(.io, error.message)
        case .tooLarge: throw HostError(.limit, error.message)
        case .missingLibrary: throw HostError(.unsupported, error.message)
        case .noCode: throw HostError(.notFound, error.message)
        default: throw HostError(.noMemory, error.message)  // `Code` is open-ended; no other is left.
        }
    }
}
