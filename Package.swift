// swift-tools-version: 6.2
import PackageDescription

// The floors, from the bottom up; each is a folder of Sources. A module imports from its own floor, without circles, and
// from those below: the compiler checks that it declares what it imports, and Tests/ABI/structure.py checks the floors.

/// A floor's modules, each in the folder of its name.
func floor(_ name: String, _ modules: [Target]) -> [Target] {
    for module in modules { module.path = "Sources/\(name)/\(module.name)" }
    return modules
}

/// The tests of a floor's modules. They mirror Sources.
func tests(of floor: String, _ suites: [Target]) -> [Target] {
    for suite in suites { suite.path = "Tests/Unit/\(floor)/\(suite.name)" }
    return suites
}

var targets: [Target] = []

// MARK: C

// System libraries as modules, and the little that must be written in C.
targets += floor(
    "C",
    [
        .systemLibrary(name: "CJansson", pkgConfig: "jansson", providers: [.apt(["libjansson-dev"])]),
        .systemLibrary(name: "CUV", pkgConfig: "libuv", providers: [.apt(["libuv1-dev"])]),
        .systemLibrary(name: "CWslay", providers: [.apt(["libwslay-dev"])]),
        .systemLibrary(name: "CHTTPParser", providers: [.apt(["libhttp-parser-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
        .systemLibrary(name: "CQREncode", pkgConfig: "libqrencode", providers: [.apt(["libqrencode-dev"])]),
        .systemLibrary(name: "CLinux"),
        .systemLibrary(name: "CVector"),
        // libsystemd, libcurl, ZBar, libpng, libjpeg-turbo, libwebp and giflib, each loaded on first use: building needs the
        // headers of all but libwebp.
        // DWARF 4: valgrind 3.19 does not read newer versions.
        .target(name: "COnDemand", cSettings: [.unsafeFlags(["-gdwarf-4", "-ffunction-sections"])]),
        // OpenSSL, loaded with the first TLS connection.
        .target(
            name: "COpenSSL", cSettings: [.unsafeFlags(["-gdwarf-4", "-ffunction-sections", "-fvisibility=hidden"])]),
        // The words of the command line.
        .target(
            name: "CArguments", cSettings: [.unsafeFlags(["-gdwarf-4", "-fvisibility=hidden"])]),
        // Process setup that must happen before Swift's runtime starts.
        .target(
            name: "CEnvironment",
            cSettings: [.unsafeFlags(["-gdwarf-4", "-ffunction-sections", "-fvisibility=hidden"])]),
    ])

// The contract: the public header as a module, so that the compiler compares it with what CABI exports.
targets.append(.systemLibrary(name: "CBellwire", path: "include"))

// MARK: Foundations

// Values, keys, JSON and SQLite. No network.
targets += floor(
    "Foundations",
    [
        // The one error type, with a code and a message; each module that throws one names its codes.
        .target(name: "Errors"),
        // JSONValue over jansson; UTF-8 in, UTF-8 out.
        .target(name: "JSON", dependencies: ["Errors", "CJansson"]),
        // Frames, envelopes, requests, responses, events, ids, error codes. Pure: bytes in, values out.
        .target(name: "Wire", dependencies: ["Errors", "JSON"]),
        // did:key, key files, signatures.
        .target(name: "Identity", dependencies: ["Errors", "CSodium"]),
        // Database, Statement, Migrator on top of SQLite, with their own thread.
        .target(name: "Store", dependencies: ["Errors", "CSQLite"]),
        // Local time: wall clock, times of day, quiet hours, calendar matches.
        .target(name: "Calendar", dependencies: ["Wire"]),
        // Which addresses may be fetched from: https URLs, IP addresses, public ranges. Pure.
        .target(name: "Addresses"),
    ])

// MARK: Network

// Protocols on I/O. Transport carries text and bytes and imports nothing of Wire.
targets += floor(
    "Network",
    [
        // The event loop, TCP, TLS, HTTP upgrade, WebSocket framing.
        .target(name: "Transport", dependencies: ["Errors", "CLinux", "CUV", "CWslay", "CHTTPParser", "COpenSSL"]),
        // One relay connection: register, proof, keepalive, reconnect, backoff.
        .target(name: "Signalling", dependencies: ["Transport", "Wire", "Identity", "JSON"]),
        // Fetches images from untrusted URLs: libcurl on the event loop.
        .target(name: "HTTPClient", dependencies: ["Errors", "Addresses", "Transport", "COnDemand"]),
    ])

// MARK: Features

// State machines and their tables. No I/O: none imports anything of Network.
targets += floor(
    "Features",
    [
        // End-to-end encryption between two peers: envelopes, sessions, replay windows, and their stored state.
        .target(name: "Sealing", dependencies: ["Errors", "Wire", "JSON", "Identity", "Store"]),
        // The pairing flows, both sides, as pure state machines.
        .target(name: "Pairing", dependencies: ["Wire", "JSON", "Identity", "Store"]),
        // Calls in progress: ids, deadlines, resending; and the stored answers of the executing side.
        .target(name: "Commands", dependencies: ["Errors", "Wire", "JSON", "Identity", "Store"]),
        // Commands that wait for a connection.
        .target(name: "OfflineQueue", dependencies: ["Notifications", "Wire", "JSON", "Store"]),
        // The notification.* methods, one row for each, and the values that they carry.
        .target(name: "Notifications", dependencies: ["Errors", "Calendar", "Wire", "JSON"]),
        // How notifications and peers are stored in tables, on both sides: columns, cursors, numbers.
        .target(name: "Listing", dependencies: ["Notifications", "Wire", "JSON", "Store"]),
        // Numbered delivery of pushes: outboxes and their protocol, and how far a device has received them.
        .target(name: "Delivery", dependencies: ["Listing", "Sealing", "Notifications", "Wire", "JSON", "Store"]),
        // The device's side: the inbox, storing batches of pushes, refresh, pending changes.
        .target(
            name: "Inbox", dependencies: ["Listing", "Delivery", "Sealing", "Notifications", "Wire", "JSON", "Store"]),
        // The desktop's side: the history, its settings and permissions, and the method handler.
        .target(
            name: "History",
            dependencies: ["Listing", "Delivery", "Notifications", "Calendar", "Wire", "JSON", "Store"]),
        // Everything about alerts that is pure: authorization, settings, categories, reminders, triggers, images, responses.
        .target(name: "Alerts", dependencies: ["Errors", "Addresses", "Calendar", "Wire", "JSON", "Store"]),
        // QR codes: drawn for terminals, as SVG and PNG, and read from pictures.
        .target(name: "QR", dependencies: ["Errors", "CQREncode", "COnDemand"]),
    ])

// MARK: System

// What a role needs from its machine and its host: services, options, events, a shared state directory.
targets += floor(
    "System",
    [
        // D-Bus, Avahi, the notification server, network changes, sleep and the user's keyring.
        .target(name: "SystemServices", dependencies: ["Errors", "Transport", "COnDemand", "CLinux"]),
        // The program-facing code that the roles share: options, events, errors, log, state directory.
        .target(
            name: "Hosting",
            dependencies: ["Errors", "Transport", "Store", "Identity", "Sealing", "SystemServices", "Wire", "JSON"]),
        // A state directory that several programs have open: holder, guests, and which events each program has received.
        .target(name: "Sharing", dependencies: ["Transport", "Store", "Hosting", "Identity", "JSON", "CLinux"]),
    ])

// MARK: Roles

// Device, desktop and relay: the only modules that connect features with the network.
targets += floor(
    "Roles",
    [
        // Code that device and desktop share: routes to peers, encrypted channels, paired peers, pairing flows on the loop.
        .target(
            name: "Peering",
            dependencies: [
                "Transport", "Signalling", "Sealing", "Pairing", "Hosting", "Wire", "Store", "Identity", "JSON",
            ]),
        // A device's alerts: from a push or a reminder to the screen, and the user's response back.
        .target(
            name: "DeviceAlerts",
            dependencies: [
                "Alerts", "Notifications", "Calendar", "SystemServices", "HTTPClient", "Signalling", "Transport",
                "Store", "Identity", "Hosting", "Addresses", "Wire", "JSON", "COnDemand",
            ]),
        .target(
            name: "Device",
            dependencies: [
                "Transport", "Signalling", "Sealing", "Pairing", "Peering", "Commands", "OfflineQueue", "Notifications",
                "Inbox", "Listing", "Delivery", "Alerts", "DeviceAlerts", "Sharing", "Hosting", "Wire", "Store",
                "Identity", "JSON", "CLinux", "SystemServices",
            ]),
        .target(
            name: "Desktop",
            dependencies: [
                "Transport", "Signalling", "Sealing", "Pairing", "Peering", "Commands", "Notifications", "History",
                "Delivery", "Listing", "Sharing", "Hosting", "Wire", "Store", "Identity", "JSON", "Relay",
                "SystemServices",
            ]),
        .target(
            name: "Relay",
            dependencies: ["Errors", "CVector", "Transport", "Hosting", "Store", "Identity", "Wire", "JSON"]),
    ])

// MARK: Library

// The C interface.
targets += floor(
    "Library",
    [
        // The exported functions: handles, callbacks, status mapping. One file for each section of the header.
        .target(
            name: "CABI",
            dependencies: [
                "CBellwire", "CEnvironment", "CLinux", "Device", "DeviceAlerts", "Desktop", "Relay", "Peering",
                "Sharing", "Hosting", "Transport", "Store", "Notifications", "Wire", "JSON", "QR",
            ])
    ])

// MARK: Program

// The command line, and what only it contains.
targets += floor(
    "Program",
    [
        // Relays that work together over NATS.
        .target(name: "Cluster", dependencies: ["NATS", "Relay", "Transport", "Identity"]),
        // A relay with an operator: access control, reload, proxies, metrics, stored frames on disk.
        .target(
            name: "RelayService",
            dependencies: ["Errors", "Cluster", "NATS", "Relay", "Transport", "Hosting", "Store", "Identity", "JSON"]),
        // A client of NATS: protocol, connection, requests.
        .target(name: "NATS", dependencies: ["Errors", "Transport", "Identity", "JSON"]),
        // Publishing to a desktop over HTTP, compatible with ntfy: requests, tokens, limits.
        .target(name: "Door", dependencies: ["Transport", "Hosting", "Identity", "JSON"]),
        // The command-line program: uses the C interface like any other program, except for its relay, a RelayService.
        .executableTarget(
            name: "bellwire",
            dependencies: [
                "CABI", "CArguments", "CBellwire", "CLinux", "CSodium", "CSQLite", "Relay", "RelayService", "Door",
                "DeviceAlerts", "Alerts", "SystemServices", "Hosting", "Transport", "Wire", "Identity", "JSON",
            ]),
    ])

// MARK: Code that benchmarks measure in their own process

targets += [
    // How a push travels from the socket's text to the host's event.
    .executableTarget(
        name: "handover", dependencies: ["Hosting", "Notifications", "Delivery", "Wire", "JSON"],
        path: "Tests/Benchmarks/Handover"),
    // Handshakes and frames of the seal's sessions.
    .executableTarget(
        name: "sessions", dependencies: ["Sealing", "Identity", "Wire", "JSON"], path: "Tests/Benchmarks/Sessions"),
]

// MARK: Tests

// Shared by all test targets: relays, peers, hosts, mailboxes, programs, certificates, a seeded random generator.
targets.append(
    .target(
        name: "TestSupport",
        dependencies: [
            "Hosting", "Peering", "Sharing", "Relay", "Signalling", "Transport", "Identity", "Wire", "JSON",
        ],
        path: "Tests/Support", exclude: ["Quality", "Sanitizers"]))

targets += tests(
    of: "Foundations",
    [
        .testTarget(name: "JSONTests", dependencies: ["JSON", "CJansson"]),
        .testTarget(name: "WireTests", dependencies: ["Wire", "JSON"]),
        .testTarget(name: "IdentityTests", dependencies: ["Identity", "JSON", "CSodium"]),
        .testTarget(name: "StoreTests", dependencies: ["CSQLite", "Store"]),
        .testTarget(name: "CalendarTests", dependencies: ["Calendar", "Wire"], exclude: ["Oracle"]),
        .testTarget(name: "AddressesTests", dependencies: ["Addresses"]),
    ])

targets += tests(
    of: "Network",
    [
        .testTarget(name: "TransportTests", dependencies: ["Transport", "CUV"]),
        .testTarget(
            name: "SignallingTests", dependencies: ["Signalling", "Transport", "Wire", "Identity", "JSON"]),
        .testTarget(
            name: "HTTPClientTests", dependencies: ["HTTPClient", "Addresses", "Alerts", "JSON", "Transport"],
            exclude: ["Mocks"]),
    ])

targets += tests(
    of: "Features",
    [
        .testTarget(
            name: "SealingTests", dependencies: ["Sealing", "Wire", "JSON", "Identity", "Store"], exclude: ["Vectors"]),
        .testTarget(
            name: "PairingTests", dependencies: ["Pairing", "Wire", "JSON", "Identity", "Store"], exclude: ["Vectors"]),
        .testTarget(name: "CommandsTests", dependencies: ["Commands", "Wire", "JSON", "Identity", "Store"]),
        .testTarget(name: "OfflineQueueTests", dependencies: ["OfflineQueue", "Wire", "JSON", "Store"]),
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
        .testTarget(name: "QRTests", dependencies: ["QR"]),
        .testTarget(name: "AlertsTests", dependencies: ["Alerts", "Calendar", "Wire", "JSON", "Store"]),
    ])

targets += tests(
    of: "System",
    [
        .testTarget(name: "SharingTests", dependencies: ["Sharing", "Hosting", "Transport", "Store", "JSON"]),
        .testTarget(name: "HostingTests", dependencies: ["Hosting", "Identity", "Sealing", "Store", "Wire", "JSON"]),
        .testTarget(
            name: "SystemServicesTests",
            dependencies: ["SystemServices", "Hosting", "Identity", "Transport", "CLinux"],
            exclude: ["Mocks"]),
    ])

targets += tests(
    of: "Roles",
    [
        .testTarget(
            name: "PeeringTests",
            dependencies: [
                "Peering", "Relay", "Pairing", "Sealing", "Signalling", "Hosting", "Transport", "Store", "Identity",
                "Wire", "JSON",
            ]),
        .testTarget(
            name: "DeviceAlertsTests",
            dependencies: [
                "DeviceAlerts", "Alerts", "Notifications", "Hosting", "HTTPClient", "Transport", "Store", "Wire",
                "JSON",
            ]),
        .testTarget(
            name: "RelayTests",
            dependencies: ["Relay", "Signalling", "Transport", "Hosting", "Store", "Identity", "Wire", "JSON"]),
        .testTarget(
            name: "DeviceTests",
            dependencies: [
                "CSQLite", "Commands", "DeviceAlerts", "Alerts", "Device", "Desktop", "Relay", "Notifications", "Inbox",
                "Delivery", "History", "OfflineQueue", "Pairing", "Peering", "Signalling", "Sealing", "Identity",
                "Sharing", "Store", "Hosting", "Transport", "Wire", "JSON",
            ], exclude: ["Fixtures"]),
        .testTarget(
            name: "DesktopTests",
            dependencies: [
                "Desktop", "Peering", "Relay", "Notifications", "Delivery", "History", "Commands", "Pairing", "Sealing",
                "Signalling", "Sharing", "Hosting", "Identity", "Store", "Transport", "Wire", "JSON",
            ]),
    ])

targets += tests(
    of: "Library",
    [
        .testTarget(name: "CABITests", dependencies: ["CABI", "CBellwire", "CLinux", "Hosting", "JSON"])
    ])

targets += tests(
    of: "Program",
    [
        .testTarget(name: "RelayServiceTests", dependencies: ["RelayService", "Relay", "Transport", "JSON"]),
        .testTarget(
            name: "ClusterTests", dependencies: ["Cluster", "NATS", "Relay", "Transport", "Identity", "JSON"]),
        .testTarget(name: "NATSTests", dependencies: ["NATS", "Transport", "JSON"]),
        .testTarget(name: "DoorTests", dependencies: ["Door", "Transport", "Identity", "JSON"]),
    ])

// One set of fuzz targets, used twice: by a suite that replays the kept inputs in every test run, and by a libFuzzer
// program, which is only built if the environment asks for it (Tests/fuzz.sh).
let fuzzed: [Target.Dependency] = [
    "Device", "Desktop", "Relay", "Pairing", "Inbox", "Alerts", "DeviceAlerts", "Delivery", "Notifications", "Calendar",
    "Sealing", "Signalling", "Transport", "Hosting", "HTTPClient", "Addresses", "OfflineQueue", "QR", "Identity",
    "Store", "Wire", "JSON", "COnDemand", "CWslay", "Door", "NATS", "Cluster",
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

// Fail points, at which tests kill the process; only in debug builds (Sources/Foundations/Store/FailPoint.swift).
for target in targets where target.name == "Store" {
    target.swiftSettings?.append(.define("FAILPOINTS", .when(configuration: .debug)))
}

// Each function gets its own section, so that the linker can drop unused functions and place functions that run together
// next to each other. No code uses reflection, so a release has no reflection metadata: it is smaller, and no secret can
// be printed by accident. So a value that is interpolated into a string needs its own description. All modules are linked
// into one file, and functions that no code in that file calls are dropped, even if they are visible to other modules.
for target in targets where target.type == .regular {
    target.swiftSettings?.append(
        .unsafeFlags(
            [
                "-Xfrontend", "-function-sections", "-Xfrontend", "-internalize-at-link",
                "-Xfrontend", "-disable-reflection-metadata",
            ],
            .when(configuration: .release)))
}

// Modules that work on every byte of a push are compiled for speed, all others for size. So are the roles and what they
// store, which spend their time in the modules below them.
let fast: Set<String> = ["JSON", "Wire", "Sealing", "Transport", "Relay", "Store", "NATS", "Cluster"]
let hot = fast.union(["Signalling", "Delivery", "Inbox", "History", "Desktop"])
let inC: Set<String> = ["COnDemand", "COpenSSL", "CEnvironment", "CArguments"]
for target in targets where target.type == .regular && !fast.contains(target.name) && !inC.contains(target.name) {
    target.swiftSettings?.append(.unsafeFlags(["-Osize"], .when(configuration: .release)))
}

// Whether a function that belongs to the loop is called on it: debug builds, which the tests run, check that at each call.
for target in targets where hot.contains(target.name) {
    target.swiftSettings?.append(
        .unsafeFlags(["-Xfrontend", "-disable-dynamic-actor-isolation"], .when(configuration: .release)))
}

// C code is compiled with buffer checks, stack protection and branch protection. Swift does not support branch protection,
// so the processor can't enforce it for the whole library, but can for C objects that a host links into other files.
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
