import Foundation
import Synchronization
import Transport

/// A program that a test runs: lines in, lines out. It ends with the test.
final class Program: Sendable {
    private let process: Process
    private let input: FileHandle
    private let output: FileHandle
    /// Its lines, as they come.
    let lines = Mailbox<String>()
    private let rest = Mutex(Data())

    init(_ path: String, _ arguments: [String]) throws {
        process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        let input = Pipe()
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        self.input = input.fileHandleForWriting
        self.output = output.fileHandleForReading
        self.output.readabilityHandler = { [weak self] handle in
            let data = handle.availableData
            guard !data.isEmpty else {
                handle.readabilityHandler = nil
                return
            }
            self?.take(data)
        }
        try process.run()
    }

    private func take(_ data: Data) {
        rest.withLock { rest in
            rest.append(data)
            while let end = rest.firstIndex(of: 10) {
                let line = String(decoding: rest[rest.startIndex..<end], as: UTF8.self)
                rest.removeSubrange(rest.startIndex...end)
                let lines = self.lines
                EventLoop.post { lines.put(line) }
            }
        }
    }

    func write(_ line: String) {
        try? input.write(contentsOf: Data("\(line)\n".utf8))
    }

    /// Ends it, and waits until it has ended.
    func end() {
        guard process.isRunning else { return }
        process.terminate()
        process.waitUntilExit()
    }

    func kill() {
        guard process.isRunning else { return }
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    deinit {
        output.readabilityHandler = nil
        try? input.close()
        end()
    }
}
