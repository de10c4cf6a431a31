extension QRCode {
    /// Two rows of modules in each line of text: half blocks, dark on light.
    ///
    /// Unless it is `plain` the lines bring their own colours, so that it can be scanned on any background.
    package func terminalDrawing(plain: Bool) -> String {
        var lines = ""
        for y in stride(from: range.lowerBound, to: range.upperBound, by: 2) {
            if !plain { lines += "\u{1b}[38;5;16;48;5;231m" }
            for x in range {
                switch (isDark(x, y), isDark(x, y + 1)) {
                case (true, true): lines += "█"
                case (true, false): lines += "▀"
                case (false, true): lines += "▄"
                case (false, false): lines += " "
                }
            }
            lines += plain ? "\n" : "\u{1b}[0m\n"
        }
        return lines
    }

    /// An SVG document in which a module is one unit: a path of the dark runs of each row, on white.
    package func svg() -> String {
        let size = range.count
        var path = ""
        for y in range {
            var x = range.lowerBound
            while x < range.upperBound {
                let begin = x
                while isDark(x, y) { x += 1 }
                if x > begin {
                    path += "M\(begin + QRCode.quietZone) \(y + QRCode.quietZone)h\(x - begin)v1h-\(x - begin)z"
                }
                x += 1
            }
        }
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <svg xmlns="http://www.w3.org/2000/svg" version="1.1" viewBox="0 0 \(size) \(size)" \
            width="\(size * 4)" height="\(size * 4)" shape-rendering="crispEdges">
            <path fill="#fff" d="M0 0h\(size)v\(size)H0z"/>
            <path d="\(path)"/>
            </svg>

            """
    }
}
