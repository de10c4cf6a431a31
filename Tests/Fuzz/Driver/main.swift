import Glibc

// fuzz TARGET [libFuzzer's own arguments]; without a target, the names of all.

@_silgen_name("LLVMFuzzerRunDriver")
func runFuzzer(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ callback: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// Set once, before the fuzzer starts.
nonisolated(unsafe) var current = FuzzTarget.all[0]

// libFuzzer starts copies of this program with its own arguments alone: the target is also in their environment.
let variable = "BELLWIRE_FUZZ_TARGET"
var count = CommandLine.argc
var arguments = CommandLine.unsafeArgv
if count > 1, let target = FuzzTarget.named(CommandLine.arguments[1]) {
    current = target
    setenv(variable, target.name, 1)
    for index in 1..<Int(count) { arguments[index] = arguments[index + 1] }
    count -= 1
} else if let name = getenv(variable), let target = FuzzTarget.named(String(cString: name)) {
    current = target
} else {
    for target in FuzzTarget.all { print(target.name, target.limit) }
    exit(count > 1 ? 2 : 0)
}

exit(
    runFuzzer(&count, &arguments) { start, count in
        do {
            try current.run(Array(UnsafeBufferPointer(start: start, count: count)))
        } catch {
            let line = Array("FINDING: \(error)\n".utf8)
            write(STDERR_FILENO, line, line.count)
            abort()
        }
        return 0
    })
