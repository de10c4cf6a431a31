"""The models of pairing, sessions, prekeys and moves hold, and each of their claims can fail (WireSessions, "Proofs")."""

from __future__ import annotations

from pathlib import Path

import protocol_checker
import pytest

MODELS = sorted((Path(__file__).parent / "Models").glob("*.pv"))

# The attack of Lowe on the protocol of Needham and Schroeder, and his repair: of a checker it is known what it has to say.
NEEDHAM_SCHROEDER = """
free c: channel.
type skey. type pkey.
fun pk(skey): pkey.
fun encrypt(bitstring, pkey): bitstring.
reduc forall m: bitstring, k: skey; decrypt(encrypt(m, pk(k)), k) = m.
free a: skey [private]. free b: skey [private]. free mallory: skey.
event begins(pkey, pkey, bitstring). event accepts(pkey, pkey, bitstring).
query n: bitstring; event(accepts(pk(a), pk(b), n)) ==> event(begins(pk(a), pk(b), n)).
let initiator() =
    in(c, peer: pkey);
    new na: bitstring;
    out(c, encrypt((na, pk(a)), peer));
    in(c, m: bitstring);
    let (=na, nb: bitstring NAME) = decrypt(m, a) in
    event begins(pk(a), peer, nb);
    out(c, encrypt(nb, peer)).
let responder() =
    in(c, m: bitstring);
    let (na: bitstring, peer: pkey) = decrypt(m, b) in
    new nb: bitstring;
    out(c, encrypt((na, nb OWN), peer));
    in(c, n: bitstring);
    let last = decrypt(n, b) in
    if last = nb then
    event accepts(peer, pk(b), nb).
process
    out(c, (pk(a), pk(b)));
    (initiator() | responder())
"""


def test_the_checker_finds_a_known_attack_and_none_in_the_repaired_protocol() -> None:
    broken = NEEDHAM_SCHROEDER.replace(" NAME", "").replace(" OWN", "")
    repaired = NEEDHAM_SCHROEDER.replace(" NAME", ", =peer").replace(" OWN", ", pk(b)")
    assert list(protocol_checker.check(broken, 1)[1].violated) == [0]
    assert not protocol_checker.check(repaired, 1)[1].violated


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("free proof: bitstring.\nprocess 0", "proof"),
        ("free secret: bitstring.\nprocess 0", "secret"),
        ("free c: channel.\nprocess out(c, x)", "x"),
        ("free c: channel.\nprocess out(c, f(c))", "f"),
        ("query event(e()).\nprocess 0", "e"),
    ],
)
def test_what_the_language_does_not_have_is_an_error(text: str, word: str) -> None:
    with pytest.raises(protocol_checker.ModelError, match=f"'{word}'"):
        protocol_checker.check(text, 1)


@pytest.mark.parametrize("model", MODELS, ids=lambda path: path.stem)
def test_each_query_has_its_expected_result_and_is_false_in_its_mutants(model: Path) -> None:
    assert list(protocol_checker.faults(model)) == []
