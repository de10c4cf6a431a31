/*
 * identity.c - ids that belong to keys: did:key names and proofs of registration (Wire page, "Registration").
 *
 * A peer's key depends on its number alone, so that the peers of a later run come back with the ids of an earlier one.
 */
#include "load.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

struct identity {
    char id[64];
    uint8_t secret_key[crypto_sign_SECRETKEYBYTES];
};

static struct identity *identities;

/* Base58 with Bitcoin's alphabet. */
static void write_base58(char *text, size_t size, const uint8_t *bytes, size_t length)
{
    static const char alphabet[] = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
    uint8_t digits[64];
    size_t count = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned carry = bytes[i];
        for (size_t k = 0; k < count; k++) {
            carry += (unsigned)digits[k] << 8;
            digits[k] = (uint8_t)(carry % 58);
            carry /= 58;
        }
        for (; carry > 0; carry /= 58)
            digits[count++] = (uint8_t)(carry % 58);
    }
    if (count + 1 > size)
        broken("a name is too long");
    for (size_t k = 0; k < count; k++)
        text[k] = alphabet[digits[count - 1 - k]];
    text[count] = '\0';
}

void make_identities(uint32_t count)
{
    identities = calloc(count, sizeof *identities);
    if (identities == NULL || sodium_init() < 0)
        broken("cannot make %u keys", count);
    for (uint32_t number = 0; number < count; number++) {
        uint8_t seed[crypto_sign_SEEDBYTES] = {0}, name[2 + crypto_sign_PUBLICKEYBYTES] = {0xED, 0x01};
        memcpy(seed, &number, sizeof number);
        crypto_sign_seed_keypair(name + 2, identities[number].secret_key, seed);
        memcpy(identities[number].id, "did:key:z", 9);
        write_base58(identities[number].id + 9, sizeof identities[number].id - 9, name, sizeof name);
    }
}

const char *identity_name(uint32_t number) { return identities[number].id; }

void sign_nonce(const struct peer *peer, const char *origin, const char *nonce, char *signature, size_t size)
{
    const struct identity *identity = &identities[peer->number];
    char text[512], exporter[1 + sodium_base64_ENCODED_LEN(TLS_BINDING, sodium_base64_VARIANT_URLSAFE_NO_PADDING)] = "";
    uint8_t binding[TLS_BINDING], bytes[crypto_sign_BYTES];
    int length;
    if (peer->tls != NULL) {
        tls_binding(peer, binding);
        exporter[0] = '\n';
        sodium_bin2base64(exporter + 1, sizeof exporter - 1, binding, sizeof binding,
                          sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    }
    length = snprintf(text, sizeof text, "bellwire-register-v1\n%s\n%s\n%s%s", origin, identity->id, nonce, exporter);
    if (length < 0 || (size_t)length >= sizeof text)
        broken("the relay's nonce is too long");
    crypto_sign_detached(bytes, NULL, (const uint8_t *)text, (size_t)length, identity->secret_key);
    sodium_bin2base64(signature, size, bytes, sizeof bytes, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
}
