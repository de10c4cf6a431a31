/// The pairing flows with a hostile peer that knows everything that a relay sees: ids, codes, the first six digits and
/// all frames, also those of earlier pairings. It doesn't know the secret of a QR code or the last six typed digits.
enum PairingFlow: String, CaseIterable, Sendable {
    case desktopOffer = "desktop-offer"
    case desktopScan = "desktop-scan"
    case deviceScan = "device-scan"
    case deviceShow = "device-show"
    case desktopCode = "desktop-code"
    case deviceCode = "device-code"

    /// - Parameter fault: what is wrong with the machine. Only the test that each check can fail gives one.
    func run(_ bytes: [UInt8], fault: PairingFault? = nil) throws {
        var fuzz = fuzz(PairingWorld(FuzzInput(bytes), peers: try PairingPeers.shared.get(), fault: fault))
        while !fuzz.world.input.isEmpty {
            fuzz.world.now += Int64(fuzz.world.input.byte()) * 40
            try fuzz.step()
            try fuzz.world.rest(fuzz.isActive)
        }
        // With no help but its own timers and the store each flow ends.
        try fuzz.wake()
        for _ in 0..<80 where fuzz.isActive {
            try fuzz.fire()
            try fuzz.finishStoring(succeeds: true)
        }
        try fuzz.world.require(!fuzz.isActive, .endless)
    }

    private func fuzz(_ world: PairingWorld) -> any PairingFuzz {
        switch self {
        case .desktopOffer: DesktopOfferFuzz(world)
        case .desktopScan: DesktopScanFuzz(world)
        case .deviceScan: DeviceScanFuzz(world)
        case .deviceShow: DeviceShowFuzz(world)
        case .desktopCode: DesktopCodeFuzz(world)
        case .deviceCode: DeviceCodeFuzz(world)
        }
    }
}

extension FuzzTarget {
    static let desktopOffer = FuzzTarget(.desktopOffer)
    static let desktopScan = FuzzTarget(.desktopScan)
    static let deviceScan = FuzzTarget(.deviceScan)
    static let deviceShow = FuzzTarget(.deviceShow)
    static let desktopCode = FuzzTarget(.desktopCode)
    static let deviceCode = FuzzTarget(.deviceCode)

    private init(_ flow: PairingFlow) { self.init(flow.rawValue, limit: 1_024) { try flow.run($0) } }
}

/// A machine, and the world that it is told of.
protocol PairingFuzz {
    var world: PairingWorld { get set }
    var isActive: Bool { get }
    mutating func step() throws
    mutating func fire() throws
    mutating func finishStoring(succeeds: Bool) throws
    mutating func wake() throws
}

extension PairingFuzz {
    mutating func wake() throws {}
}
