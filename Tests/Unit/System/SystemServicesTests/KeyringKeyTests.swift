import Foundation
import Hosting
import Identity
import Testing
import Transport

@testable import SystemServices

@Suite("A role's key in the keyring, one that the test plays")
struct KeyringKeyTests {
    private func load(
        _ folder: URL, _ service: SecretService
    ) throws(HostError) -> SigningKey {
        try KeyringKey.loadOrCreate(
            role: "device", stateDirectory: folder.path, file: folder.appendingPathComponent("identity.key").path,
            service: service)
    }

    private func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    @Test("a new key is kept there and found again; another directory has another one")
    func roundTrip() async throws {
        let daemon = try await PrivateBus()
        let keyring = try await Services(on: daemon, owning: SecretServiceTests.name)
        let service = SecretService(daemon.address)
        try await withFolder { folder in
            let first = try await Waiting.value { try load(folder, service) }.did
            #expect(try await Waiting.value { try load(folder, service) }.did == first)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
            let elsewhere = folder.appendingPathComponent("elsewhere")
            #expect(try await Waiting.value { try load(elsewhere, service) }.did != first)
        }
        withExtendedLifetime(keyring) {}
    }

    @Test("a key file moves in: the same identity, and no file")
    func moves() async throws {
        let daemon = try await PrivateBus()
        let keyring = try await Services(on: daemon, owning: SecretServiceTests.name)
        let service = SecretService(daemon.address)
        try await withFolder { folder in
            let file = folder.appendingPathComponent("identity.key").path
            let key = try SigningKey.loadOrCreate(path: file)
            #expect(try await Waiting.value { try load(folder, service) }.did == key.did)
            #expect(!FileManager.default.fileExists(atPath: file))
            #expect(try await Waiting.value { try load(folder, service) }.did == key.did)
        }
        withExtendedLifetime(keyring) {}
    }

    @Test("a keyring that is locked or absent is an error and no second identity; the key file stays")
    func refused() async throws {
        let daemon = try await PrivateBus()
        let absent = SecretService(daemon.address)
        try await withFolder { folder in
            let file = folder.appendingPathComponent("identity.key").path
            _ = try SigningKey.loadOrCreate(path: file)
            let error = await failure { try load(folder, absent) }
            #expect(error?.code == .io && error?.message.contains("\"keys\":\"file\"") == true)
            let keyring = try await Services(on: daemon, owning: SecretServiceTests.name)
            try await keyring.set(#""locked":true,"prompts":true"#)
            #expect(await failure { try load(folder, absent) }?.code == .denied)
            #expect(FileManager.default.fileExists(atPath: file))
            withExtendedLifetime(keyring) {}
        }
    }

    private func failure(_ body: @escaping @Sendable () throws -> SigningKey) async -> HostError? {
        do {
            _ = try await Waiting.value(body)
            return nil
        } catch {
            return error as? HostError
        }
    }
}
