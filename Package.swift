// swift-tools-version: 6.2
import PackageDescription

// Modules from the bottom up. Dependencies point one way:
//   CABI, bellwire -> roles -> features -> Wire, Store, Identity -> JSON -> C libraries
// No feature imports Transport; Transport imports no feature and no Wire.

// MARK: C libraries: a module map and a shim each

var targets: [Target] = [
    .systemLibrary(name: "CJansson", pkgConfig: "jansson", providers: [.apt(["libjansson-dev"])]),
    .systemLibrary(name: "CUV", pkgConfig: "libuv", providers: [.apt(["libuv1-dev"])]),
    .systemLibrary(name: "CWslay", providers: [.apt(["libwslay-dev"])]),
    .systemLibrary(name: "CHTTPParser", providers: [.apt(["libhttp-parser-dev"])]),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
    .systemLibrary(name: "CQREncode", pkgConfig: "libqrencode", providers: [.apt(["libqrencode-dev"])]),
    .systemLibrary(name: "CLinux"),
    // libsystemd, libcurl, ZBar, libpng, libjpeg-turbo, libwebp and giflib, each loaded on first use: building needs the
    // headers of all but libwebp.
    // DWARF 4: valgrind 3.19 reads no more.
    .target(name: "COnDemand", cSettings: [.unsafeFlags(["-gdwarf-4", "-ffunction-sections"])]),
    // OpenSSL, loaded with the first TLS connection.
    .target(name: "COpenSSL", cSettings: [.unsafeFlags(["-gdwarf-4", "-ffunction-sections", "-fvisibility=hidden"])]),
    // What the process must have before Swift's runtime starts in it.
    .target(
        name: "CEnvironment", cSettings: [.unsafeFlags(["-gdwarf-4", "-ffunction-sections", "-fvisibility=hidden"])]),
    // The contract: the public header as a module, so that the compiler compares it with what CABI exports.
    .systemLibrary(name: "CBellwire", path: "include"),
]

// MARK: Modules

targets += [
    // JSONValue over jansson; UTF-8 in, UTF-8 out.
    .target(name: "JSON", dependencies: ["CJansson"]),
    // Frames, envelopes, requests, responses, events, ids, error codes. Pure: bytes in, values out.
    .target(name: "Wire", dependencies: ["JSON"]),
    // did:key, key files, signatures.
    .target(name: "Identity", dependencies: ["CSodium"]),
    // Database, Statement, Migrator over SQLite, on a thread of their own.
    .target(name: "Store", dependencies: ["CSQLite"]),
    // The seal between two peers: envelope, replay windows, and what of them is stored.
    .target(name: "Sealing", dependencies: ["Wire", "JSON", "Identity", "Store"]),
    // The event loop, TCP, TLS, HTTP upgrade, WebSocket framing. Text and bytes only.
    .target(name: "Transport", dependencies: ["CUV", "CWslay", "CHTTPParser", "COpenSSL"]),
    // One relay connection: register, proof, keepalive, reconnect, backoff.
    .target(name: "Signalling", dependencies: ["Transport", "Wire", "Identity", "JSON"]),
    // The pairing flows, both sides, as pure state machines.
    .target(name: "Pairing", dependencies: ["Wire", "JSON", "Identity", "Store"]),
    // The pending-call table: ids, deadlines, resending; what the answering side remembers of its answers.
    .target(name: "Commands", dependencies: ["Wire", "JSON", "Identity", "Store"]),
    // Commands that wait for a connection.
    .target(name: "OfflineQueue", dependencies: ["Notifications", "Wire", "JSON", "Store"]),
    // Local time: what the clock on the wall says, times of day, quiet hours, dates that match.
    .target(name: "Calendar", dependencies: ["Wire"]),
    // What may be fetched: https addresses, IP addresses, and which of these are public. Pure.
    .target(name: "Addresses"),
    // The notification.* methods, one row for each, and the values that they carry.
    .target(name: "Notifications", dependencies: ["Calendar", "Wire", "JSON"]),
    // How notifications and peers lie in tables, on both sides: columns, cursors, numbers.
    .target(name: "Listing", dependencies: ["Notifications", "Wire", "JSON", "Store"]),
    // Numbered delivery of pushes: outboxes and their protocol, and how far a device has received them.
    .target(name: "Delivery", dependencies: ["Listing", "Sealing", "Notifications", "Wire", "JSON", "Store"]),
    // The device's side: the inbox, what a batch of pushes stores, refresh, changes under way.
    .target(
        name: "Inbox", dependencies: ["Listing", "Delivery", "Sealing", "Notifications", "Wire", "JSON", "Store"]),
    // The desktop's side: the history, its settings and permissions, and the method handler.
    .target(
        name: "History", dependencies: ["Listing", "Delivery", "Notifications", "Calendar", "Wire", "JSON", "Store"]),
    // What a person sees: authorization, settings, categories, reminders and their triggers, enrichment, responses.
    .target(name: "Alerts", dependencies: ["Addresses", "Calendar", "Wire", "JSON", "Store"]),
    // Fetches images from untrusted URLs: libcurl on the event loop.
    .target(name: "HTTPClient", dependencies: ["Addresses", "Transport", "COnDemand"]),
    // QR codes: drawn for terminals, as SVG and PNG, and read from pictures.
    .target(name: "QR", dependencies: ["CQREncode", "COnDemand"]),
    // D-Bus, Avahi, the notification server, network changes, sleep and the user's keyring.
    .target(name: "SystemServices", dependencies: ["Transport", "COnDemand", "CLinux"]),
    // What roles share towards the program that embeds them: options, events, errors, log, state directory.
    .target(
        name: "Hosting", dependencies: ["Transport", "Store", "Identity", "Sealing", "SystemServices", "Wire", "JSON"]),
    // A state directory that several programs have open: its holder, its guests, and what each has been given.
    .target(name: "Sharing", dependencies: ["Transport", "Store", "Hosting", "JSON", "CLinux"]),
    // What device and desktop share: routes to peers, sealed channels, paired peers, pairing flows on the loop.
    .target(
        name: "Peering",
        dependencies: [
            "Transport", "Signalling", "Sealing", "Pairing", "Hosting", "Wire", "Store", "Identity", "JSON",
        ]),
    // A device's alerts: from a push or a reminder to the screen, and the person's response back.
    .target(
        name: "DeviceAlerts",
        dependencies: [
            "Alerts", "Notifications", "Calendar", "SystemServices", "HTTPClient", "Signalling", "Transport", "Store",
            "Identity", "Hosting", "Addresses", "Wire", "JSON", "COnDemand",
        ]),
    // The three roles: the only places where features meet Transport.
    .target(
        name: "Device",
        dependencies: [
            "Transport", "Signalling", "Sealing", "Pairing", "Peering", "Commands", "OfflineQueue", "Notifications",
            "Inbox", "Listing", "Delivery", "Alerts", "DeviceAlerts", "Sharing", "Hosting", "Wire", "Store", "Identity",
            "JSON", "CLinux", "SystemServices",
        ]),
    .target(
        name: "Desktop",
        dependencies: [
            "Transport", "Signalling", "Sealing", "Pairing", "Peering", "Commands", "Notifications", "History",
            "Delivery", "Listing", "Hosting",
            "Wire", "Store", "Identity", "JSON", "Relay", "SystemServices",
        ]),
    .target(name: "Relay", dependencies: ["Transport", "Hosting", "Store", "Identity", "Wire", "JSON"]),
    // A relay that is run for others: access, reload, proxies, metrics, and stored frames on disk. Only in the program.
    .target(
        name: "RelayService", dependencies: ["Relay", "Transport", "Hosting", "Store", "Identity", "JSON"]),
    // A desktop's HTTP door: publishing as ntfy does it, its tokens, and what it refuses. Only in the program.
    .target(name: "Door", dependencies: ["Transport", "Identity", "JSON"]),
    // The exported functions: handles, callbacks, status mapping. One file for each section of the header.
    .target(
        name: "CABI",
        dependencies: [
            "CBellwire", "CEnvironment", "CLinux", "Device", "DeviceAlerts", "Desktop", "Relay", "Sharing", "Hosting",
            "Transport", "Store", "Notifications", "History", "Wire", "JSON", "QR",
        ]),
    // The command-line program: a host of the C interface like any other, but for the relay, which it runs by itself.
    .executableTarget(
        name: "bellwire",
        dependencies: ["CABI", "CBellwire", "CLinux", "Relay", "RelayService", "Door", "Transport", "JSON"]),
]

// MARK: What is measured without a process of its own

targets += [
    // The way of a push from the socket's text to the host's event.
    .executableTarget(
        name: "handover", dependencies: ["Hosting", "Notifications", "Delivery", "Wire", "JSON"],
        path: "Tests/Benchmarks/Handover"),
    // Handshakes and frames of the seal's sessions.
    .executableTarget(
        name: "sessions", dependencies: ["Sealing", "Identity", "Wire", "JSON"], path: "Tests/Benchmarks/Sessions"),
]

// MARK: Tests mirror Sources

targets += [
    // What every test target may use: relays, peers, hosts, mailboxes, programs, certificates, a generator with a seed.
    .target(
        name: "TestSupport", dependencies: ["Hosting", "Relay", "Signalling", "Transport", "Identity", "Wire", "JSON"],
        path: "Tests/Support"),
    .testTarget(
        name: "PeeringTests",
        dependencies: [
            "Peering", "Relay", "Pairing", "Sealing", "Signalling", "Hosting", "Transport", "Store",
            "Identity", "Wire", "JSON",
        ]),
    .testTarget(name: "JSONTests", dependencies: ["JSON", "CJansson"]),
    .testTarget(name: "WireTests", dependencies: ["Wire", "JSON"]),
    .testTarget(name: "IdentityTests", dependencies: ["Identity", "JSON", "CSodium"]),
    .testTarget(name: "StoreTests", dependencies: ["CSQLite", "Store"]),
    .testTarget(
        name: "SealingTests", dependencies: ["Sealing", "Wire", "JSON", "Identity", "Store"], exclude: ["Vectors"]),
    .testTarget(name: "TransportTests", dependencies: ["Transport", "CUV"]),
    .testTarget(
        name: "SignallingTests", dependencies: ["Signalling", "Transport", "Wire", "Identity", "JSON"]),
    .testTarget(
        name: "PairingTests", dependencies: ["Pairing", "Wire", "JSON", "Identity", "Store"], exclude: ["Vectors"]),
    .testTarget(name: "CommandsTests", dependencies: ["Commands", "Wire", "JSON", "Identity", "Store"]),
    .testTarget(name: "OfflineQueueTests", dependencies: ["OfflineQueue", "Wire", "JSON", "Store"]),
    .testTarget(name: "CalendarTests", dependencies: ["Calendar", "Wire"], exclude: ["Oracle"]),
    .testTarget(
        name: "NotificationsTests",
        dependencies: [
            "Notifications", "Listing", "Delivery", "Inbox", "History", "Calendar", "Wire", "JSON", "Store",
        ]),
    .testTarget(
        name: "DeliveryTests", dependencies: ["Delivery", "Sealing", "Notifications", "Wire", "JSON", "Store"]),
    .testTarget(
        name: "InboxTests",
        dependencies: ["Inbox", "Listing", "Delivery", "Sealing", "Notifications", "Wire", "JSON", "Store"],
        exclude: ["Resources"]),
    .testTarget(name: "ListingTests", dependencies: ["Listing", "Wire", "Store"]),
    .testTarget(
        name: "HistoryTests",
        dependencies: [
            "History", "Delivery", "Commands", "Listing", "Notifications", "Calendar", "Wire", "JSON", "Store",
            "CSQLite",
        ], exclude: ["Fixtures"]),
    .testTarget(name: "AddressesTests", dependencies: ["Addresses"]),
    .testTarget(
        name: "HTTPClientTests", dependencies: ["HTTPClient", "Addresses", "Alerts", "JSON", "Transport"],
        exclude: ["Mocks"]),
    .testTarget(name: "QRTests", dependencies: ["QR"]),
    .testTarget(name: "AlertsTests", dependencies: ["Alerts", "Calendar", "Wire", "JSON", "Store"]),
    .testTarget(
        name: "DeviceAlertsTests",
        dependencies: [
            "DeviceAlerts", "Alerts", "Notifications", "Hosting", "HTTPClient", "Transport", "Store", "Wire", "JSON",
        ]),
    .testTarget(name: "SharingTests", dependencies: ["Sharing", "Hosting", "Transport", "Store", "JSON"]),
    .testTarget(name: "HostingTests", dependencies: ["Hosting", "Sealing", "Store", "Wire", "JSON"]),
    .testTarget(
        name: "SystemServicesTests", dependencies: ["SystemServices", "Hosting", "Identity", "Transport", "CLinux"],
        exclude: ["Mocks"]),
    .testTarget(
        name: "RelayTests",
        dependencies: ["Relay", "Signalling", "Transport", "Hosting", "Store", "Identity", "Wire", "JSON"]),
    .testTarget(name: "RelayServiceTests", dependencies: ["RelayService", "Relay", "Transport", "JSON"]),
    .testTarget(name: "DoorTests", dependencies: ["Door", "Transport", "Identity", "JSON"]),
    .testTarget(
        name: "DeviceTests",
        dependencies: [
            "Commands", "DeviceAlerts", "Alerts", "Device", "Desktop", "Relay", "Notifications", "Inbox",
            "Delivery", "History", "OfflineQueue", "Pairing", "Peering", "Signalling", "Sealing", "Identity", "Store",
            "Hosting", "Transport", "Wire", "JSON",
        ]),
    .testTarget(
        name: "DesktopTests",
        dependencies: [
            "Desktop", "Peering", "Relay", "Notifications", "Delivery", "History", "Commands", "Pairing",
            "Sealing", "Signalling", "Hosting", "Identity", "Store", "Transport", "Wire", "JSON",
        ]),
    .testTarget(name: "CABITests", dependencies: ["CABI", "CBellwire", "CLinux", "Hosting", "JSON"]),
]

// One set of fuzz targets, two programs: a suite that replays the kept inputs with every run, and, if the environment asks
// for it, a libFuzzer program (Tests/fuzz.sh). Neither build pays for the other.
let fuzzed: [Target.Dependency] = [
    "Device", "Desktop", "Relay", "Pairing", "Inbox", "Alerts", "DeviceAlerts", "Delivery", "Notifications", "Calendar",
    "Sealing", "Signalling", "Transport", "Hosting", "HTTPClient", "Addresses", "OfflineQueue", "QR", "Identity",
    "Store", "Wire", "JSON", "COnDemand", "CWslay", "Door",
]
if Context.environment["BELLWIRE_FUZZ"] == nil {
    targets.append(
        .testTarget(
            name: "FuzzTests", dependencies: fuzzed, path: "Tests/Fuzz",
            exclude: ["Corpus", "Dictionaries", "Driver"],
            sources: ["Engine", "Targets", "Replay"]))
} else {
    targets.append(
        .executableTarget(
            name: "fuzz", dependencies: fuzzed, path: "Tests/Fuzz",
            exclude: ["Corpus", "Dictionaries", "Replay"],
            sources: ["Engine", "Targets", "Driver"], linkerSettings: [.unsafeFlags(["-sanitize=fuzzer"])]))
}

for target in targets where target.type == .test { target.dependencies.append("TestSupport") }

for target in targets where target.type != .system {
    target.swiftSettings = [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .treatAllWarnings(as: .error),
    ]
}

// Places at which tests let a process die, in debug builds alone (Sources/Store/FailPoint.swift).
for target in targets where target.name == "Store" {
    target.swiftSettings?.append(.define("FAILPOINTS", .when(configuration: .debug)))
}

// Each function in a section of its own: the linker drops those that nothing refers to, and puts those that run together
// side by side. Nothing looks at values by reflection, so a release has no list of their fields and cases: it is smaller,
// and no secret can be printed by accident. A value that is put into a text needs a description of its own. Modules are
// linked into one file: what other modules may call, and none of that file does, is dropped as well.
for target in targets where target.type == .regular {
    target.swiftSettings?.append(
        .unsafeFlags(
            [
                "-Xfrontend", "-function-sections", "-Xfrontend", "-internalize-at-link",
                "-Xfrontend", "-disable-reflection-metadata",
            ],
            .when(configuration: .release)))
}

// What every push passes through is compiled for speed, everything else for size.
let fast: Set<String> = [
    "JSON", "Wire", "Sealing", "Signalling", "Transport", "Relay", "Store", "Delivery", "Inbox", "History",
    "Device", "Desktop",
]
let inC: Set<String> = ["COnDemand", "COpenSSL", "CEnvironment"]
for target in targets where target.type == .regular && !fast.contains(target.name) && !inC.contains(target.name) {
    target.swiftSettings?.append(.unsafeFlags(["-Osize"], .when(configuration: .release)))
}

// What is in C checks the bounds of its buffers and its stack, and marks the targets of indirect jumps. Swift marks none,
// so the whole library can't ask the processor to enforce that; objects that a host links into others can.
#if arch(arm64)
    let branches = "-mbranch-protection=standard"
#else
    let branches = "-fcf-protection=full"
#endif
for target in targets where inC.contains(target.name) {
    target.cSettings?.append(.unsafeFlags(["-fstack-protector-strong", branches]))
    target.cSettings?.append(.define("_FORTIFY_SOURCE", to: "2", .when(configuration: .release)))
}

let package = Package(
    name: "bellwire",
    products: [
        .executable(name: "bellwire", targets: ["bellwire"]),
        // All modules in one archive, which bindings/c/build.sh links into the libraries for C.
        .library(name: "bellwire-modules", type: .static, targets: ["CABI"]),
    ],
    targets: targets
)
