import Glibc

/// Standard input, output and error, any of which the caller may have closed.
enum StandardDescriptors {
    /// Opens the closed ones on /dev/null. Otherwise the next file or pipe of the program would take their numbers, and get
    /// what is meant for them.
    static func fill() throws(Failure) {
        for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF {
            guard open("/dev/null", O_RDWR) == descriptor else {
                throw Failure(.failed, "cannot open /dev/null: \(Failure.systemError)")
            }
        }
    }
}
