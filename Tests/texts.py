#!/usr/bin/env python3
"""Finds the worst patterns of unclear English in everything that a user reads.

    Tests/texts.py [ROOT]

Reads the Markdown pages, the comments of the public headers and of the systemd units, the help texts of shell scripts,
the string literals of Swift and C sources, and the docstrings and strings of the Python package. Prints one line per
finding, "FILE:LINE: TEXT -> ADVICE", and exits with 1 if there are any. A rule that misses its own bad sample, or flags
its own good one, is a finding as well.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Rule:
    pattern: str
    bad: str
    good: str
    #: Paths, relative to the root, where the words have their place.
    allowed: str = r"(?!)"

    def finds(self, text: str) -> re.Match[str] | None:
        return re.search(self.pattern, text)


#: The beginning of a sentence, or of a clause after a colon or semicolon.
START = r"(?:^|[.:;!?] )"

RULES = [
    Rule(
        r"\b(?:parameter|value|option) (?:that )?cannot be(?! \w)",
        "a parameter cannot be: NULL",
        "invalid parameter: NULL",
    ),
    Rule(r"\b(?:address|number|URL|name|time) (?:that )?is none\b", "the relay's address is none", "invalid relay URL"),
    Rule(r"\btrying on\b", "offline, trying on", "offline, retrying"),
    Rule(r"\bmoved aside, said\b", "it is moved aside, said, and never deleted", "it is moved aside and reported"),
    Rule(r"\bshall\b", "Scan it with the desktop that shall send to this one", "Scan this code with your desktop"),
    Rule(r"(?i)\b(?:somebody|someone)(?: is)? in between\b", "somebody is in between", "someone is intercepting it"),
    Rule(r"\bwhat is \w+ (?:it|they) cannot\b", "read what is sealed it cannot", "it cannot read encrypted traffic"),
    Rule(r"\bprove who (?:it|he|she|they) (?:is|are)\b", "it cannot prove who it is", "its identity is not proven"),
    Rule(
        rf"{START}About (?:a|an|one)\b[^.]*\bthe desktop asks\b",
        "About one that cannot the desktop asks",
        "If it can't",
    ),
    Rule(r"\btime is over\b", "Whose time is over goes", "Fails expired waiters"),
    Rule(r"\bSo long (?:a|an|the)\b", "So long a queued command waits", "Answer timeout for a queued command"),
    Rule(r"\bwe came\b", "What relays said since we came", "Reported since connecting"),
    Rule(r"\bstands? (?:twice|there)\b", "a key stands twice in it", "it has a duplicate key"),
    Rule(r"\b(?:is|are) told as\b", "the rest is told as pairing.changed", "further steps send pairing.changed"),
    Rule(r"\bspoken with\b", "it is never spoken with in plain text", "there is no fallback to plain text"),
    Rule(r"\bbw_\w+\(\) has (?:it|them)\b", "no such id; bw_queue_list() has them", "no such id; see bw_queue_list()"),
    Rule(r"\bburnt\b|\bburns? (?:it|them)\b", "the digits are burnt", "the digits are void"),
    Rule(
        r"(?<![Tt]here )\b(?:is|are|was|were) no (?!longer\b|more\b|later\b|such\b|older\b|larger\b)[a-z]",
        "the file is no image",
        "the file is not an image",
    ),
    Rule(
        rf"{START}What (?:is|was|are|came|comes|nobody|others|cannot)\b(?![^.]*\?)",
        "Dropped. What is malformed is counted.",
        "Malformed input is counted.",
    ),
    Rule(
        rf"{START}Who (?:does|has|steals|takes|asks|wants|knows|refuses)\b(?![^.]*\?)",
        "Who does not subscribe gets it",
        "Without a subscription it arrives",
    ),
    Rule(rf"{START}[Ww]ho(?:m)?ever\b", "Whoever reaches it can register", "Anyone who can reach it can register"),
    Rule(
        rf"{START}[Oo]ne that (?:is|was|comes|cannot)\b",
        "One that comes too soon is no try",
        "Early replies don't count",
    ),
    Rule(r"\bmemory has run out\b", "memory has run out", "out of memory"),
    Rule(r"\bnot to be had\b", "typed codes are not to be had", "typed codes are not available"),
    Rule(r"\btheir people\b", "for their people to compare", "for their users to compare"),
    Rule(
        r"\b(?:is|are) said to be so\b|, and that is said\b",
        "it is refused, and that is said",
        "it is refused with a message",
    ),
    Rule(r"\bas at first\b", "null = as at first", "null = the default"),
    Rule(r"\bnew one begun\b", "moved aside and a new one begun", "moved aside; a new one was created"),
    Rule(r"\bneeds it no more\b", "when it needs it no more", "when it no longer needs it"),
    Rule(r"\bcannot be made\b", "the directory cannot be made", "cannot create the directory"),
    Rule(r"\bdoes not say why\b|\bdid not say why\b|\bsays not why\b", "it does not say why", "no reason given"),
    Rule(r"\b(?:gives|give|gave) way\b", "then the oldest gives way", "then the oldest is dropped"),
    Rule(r"\bin (?:the|this|our) house\b|\bthe house,", "in this house", "in this project"),
    Rule(
        r"\b(?:[Tt]he|[Ee]ach|[Aa]|[Ee]very|[Oo]ther|[Oo]f|[Ii]ts|[Tt]wo) rooms?\b(?! for)|^Rooms?$",
        "each room is a target",
        "each module is a target",
    ),
    Rule(r"\bthe way of a (?:push|command|frame)\b", "the way of a push", "how a push travels"),
    # Shell functions end with "end end".
    Rule(r"(?<![-\w])(?!end\b)([a-z]{2,}) \1(?![-\w])", "dropped dropped a frame", "dropped a frame"),
    Rule(r"\b(?:goes|go) without (?:a|an|it|them|before)\b", "--read goes without a TEXT", "--read takes no TEXT"),
    Rule(r"(?i)\bmeanwhile\b", "it was unpaired meanwhile", "it has been unpaired in the meantime"),
    Rule(r"\bunder way\b", "a call that is under way", "a call in progress"),
    Rule(r"\banew\b", "it is paired anew", "it is paired again"),
    Rule(r"\b[Ss]omebody\b", "Somebody has the key", "Someone has the key"),
    Rule(
        r"\b[Nn]obody (?:waits|shows|asks|answers|hears|tells|reads|knows|looks|has said)\b",
        "a failure that nobody waits for",
        "a failure without a waiting call",
    ),
    Rule(
        r"\b(?:is|are) to be (?:told|said|asked|written|heard)\b",
        "the peers that are to be told",
        "the peers to notify",
    ),
    Rule(r"\bSo (?:long|many|much) (?:it|they|of|may|is|are)\b", "So long it is looked for", "How long to search"),
    Rule(
        r"\bwhere (?:there is|there are|it has|one is|they have) (?:no|none)\b",
        "where there is none, it is created",
        "if there is none, it is created",
    ),
    Rule(r"\bstands? (?:in|beside|at|where|under)\b", "the code stands in the file", "the code is in the file"),
    Rule(r"\bdoubled\b", "nothing is lost or doubled", "nothing is lost or duplicated"),
    Rule(r"\bas good as (?:absent|new|deleted|none)\b", "a null is as good as absent", "a null counts as absent"),
    Rule(r"\bsays? what (?:is|was) (?:wrong|missing) with\b", "it says what is wrong with it", "it reports the error"),
    Rule(
        r"\bsteps? aside\b", "it steps aside for other programs", "it closes the device while another program uses it"
    ),
    Rule(r"\b(?:goes|go|went|gone|going) on\b", "it goes on with the old key", "it continues to use the old key"),
    Rule(r"\bworks? on with\b", "it works on with the old key", "it continues to use the old key"),
    Rule(r"\b(?:goes|go|went) out\b", "the push goes out at the next start", "the push is sent at the next start"),
    Rule(r"\b(?:takes?|took|taken) (?:it |them |a push )?back\b", "takes a push back", "withdraws a push"),
    Rule(r"\b[Ww]ho(?:m)?ever\b", "and whoever has the token", "and anyone who has the token"),
    Rule(r"\b(?:is|are) told\b", "the sender is told", "the relay notifies the sender"),
    Rule(
        r"\bholds? (?:\w+ ){1,2}up\b", "a peer that declines holds the move up", "a peer that declines blocks the move"
    ),
    Rule(r"\bmakes? room\b(?! for)", "the oldest one makes room", "the oldest one is dropped"),
    Rule(r"\bbelieves?\b", "relays that believe senders", "relays that don't check senders"),
    Rule(r"\bmakes? (?:a|an|new) (?:group|tokens?)\b", "makes a token", "creates a token"),
    Rule(r"\bone an? (?:line|second|minute)\b", "ids, one a line", "ids, one per line"),
    Rule(r"\bhears?\b|\b(?:is|was) heard\b", "while the phone is heard", "while the phone sends frames"),
    Rule(r"\bwhat (?:becomes|became) of\b", "says what becomes of it", "describes the outcome"),
    Rule(r"\b(?:is|are) away\b", "while the desktop is away", "while the desktop is offline"),
    Rule(r"\bthe own\b", "this is the own key", "this is this machine's own key"),
    Rule(r"\bspeaks? for\b", "a copy can't speak for anyone", "a copy is useless"),
    Rule(r"\bnobody in between\b", "nobody in between can read it", "no relay or network can read it"),
    Rule(
        r"\bwaits? for as long as it takes\b",
        "a reminder waits for as long as it takes",
        "a reminder waits without limit",
    ),
    Rule(r"\bkeeps? what it had\b", "the relay keeps what it had", "the relay keeps the previous version"),
    Rule(r"\bNothing authenticates\b", "Nothing authenticates a payload", "Payloads are not authenticated"),
    Rule(r"\b[Tt]he user's answer about\b", "The user's answer about the device", "Passes the user's decision"),
    Rule(r"\bcount(?:s)? as soon as\b", "It counts as soon as it sends", "Its first message confirms it"),
    # "Sealed" is the name of a frame. Readers who do not write a peer of their own read of encryption.
    Rule(
        r"(?i)\b(?:un)?sealed\b",
        "a desktop that was paired sealed",
        "a desktop with an encrypted pairing",
        allowed=r"Sources/(?!Program/bellwire/|Library/CABI/Bellwire\.docc/(?!Wire|Architecture))|\.github/CONTRIBUTING",
    ),
]


# MARK: What a user reads


def pages(path: Path) -> Iterator[tuple[int, str]]:
    """The paragraphs of a Markdown page, without code."""
    fenced = False
    paragraph: list[str] = []
    begin = 1
    for number, line in enumerate([*path.read_text().splitlines(), ""], 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            line = ""
        if fenced or not line.strip() or line.startswith(("#", "|", "- ")):
            if paragraph:
                yield begin, " ".join(paragraph)
            paragraph = []
        if fenced or not line.strip():
            continue
        if not paragraph:
            begin = number
        # A cell of a table is a text of its own; code stands for a name.
        cells = line.strip("|- #").split(" | ") if line.startswith("|") else [line.strip().lstrip("-# ")]
        for cell in cells[:-1]:
            yield number, plain(cell)
        paragraph.append(plain(cells[-1]))


def plain(markdown: str) -> str:
    return re.sub(r"`[^`]*`", "CODE", markdown).replace("**", "").strip()


def header(path: Path) -> Iterator[tuple[int, str]]:
    text = path.read_text()
    for comment in re.finditer(r"/\*(.*?)\*/", text, re.DOTALL):
        words = " ".join(line.strip(" *=") for line in comment.group(1).splitlines())
        yield text.count("\n", 0, comment.start()) + 1, words.strip()


def comments(path: Path) -> Iterator[tuple[int, str]]:
    """The comments of a systemd unit or its options."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith("#"):
            yield number, line.lstrip("# ")


def help_text(path: Path) -> Iterator[tuple[int, str]]:
    """The comment at the top of a shell script, which --help prints."""
    paragraph = ""
    for number, line in enumerate([*path.read_text().splitlines()[1:], ""], 2):
        words = line.lstrip("# ")
        if not line.startswith("#") or not words:
            yield number, paragraph
            paragraph = ""
        if not line.startswith("#"):
            return
        paragraph = f"{paragraph} {words}".strip()


LITERAL = re.compile(r'"""\n(?P<lines>.*?)\n\s*"""|"(?P<line>(?:\\.|[^"\\\n])*)"', re.DOTALL)


def literals(path: Path) -> Iterator[tuple[int, str]]:
    """The string literals of Swift or C; what is interpolated is replaced by X."""
    text = path.read_text()
    # Comments keep their lines, so that numbers stay right. A // inside a literal follows a colon, as in a URL.
    code = re.sub(r"(?m)(?<!:)//.*$", "", text)
    code = re.sub(r"/\*.*?\*/", lambda found: "\n" * found.group().count("\n"), code, flags=re.DOTALL)
    for found in LITERAL.finditer(code):
        words = found["lines"] if found["lines"] is not None else found["line"]
        words = re.sub(r"\\\((?:[^()]|\([^()]*\))*\)", "X", words).replace("\\\n", " ").replace('\\"', '"')
        if " " in words:
            yield code.count("\n", 0, found.start()) + 1, " ".join(words.split())


#: A call whose name is the first word of its text: "dropped" puts that word before the text itself.
NAMED = re.compile(r"\b([a-z]+)\(\s*\"\1 ")


def doubled(path: Path) -> Iterator[str]:
    """Texts that repeat the word that the function they are passed to begins with."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if found := NAMED.search(line):
            yield f"{number}: {found.group()}… -> leave out the word that {found[1]}() adds"


def python(path: Path) -> Iterator[tuple[int, str]]:
    """All strings of a module, docstrings among them."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            for paragraph in re.split(r"\n\s*\n", node.value):
                yield node.lineno, re.sub(r"``[^`]*``|:\w+:`[^`]*`", "CODE", " ".join(paragraph.split()))


READERS = [
    ("README.md", pages),
    (".github/*.md", pages),
    ("bindings/python/README.md", pages),
    ("Sources/Library/CABI/Bellwire.docc/*.md", pages),
    ("Tests/Support/Quality/*.md", pages),
    ("include/*.h", header),
    ("bindings/systemd/*", comments),
    ("bindings/**/*.sh", help_text),
    ("examples/*.sh", help_text),
    ("Tests/*.sh", help_text),
    ("Sources/**/*.swift", literals),
    ("Sources/**/*.c", literals),
    ("examples/**/*.c", literals),
    ("examples/**/*.cpp", literals),
    ("bindings/python/src/bellwire/*.py", python),
]


def findings(root: Path) -> Iterator[str]:
    for rule in RULES:
        if not rule.finds(rule.bad):
            yield f"Tests/texts.py: {rule.pattern} does not find {rule.bad!r}"
        if rule.finds(rule.good):
            yield f"Tests/texts.py: {rule.pattern} finds {rule.good!r}"
    if not NAMED.search('host.dropped("dropped a frame")') or NAMED.search('host.dropped("a frame")'):
        yield "Tests/texts.py: doubled words are not found"
    for path in sorted(root.glob("Sources/**/*.swift")):
        yield from (f"{path.relative_to(root)}:{found}" for found in doubled(path))
    for pattern, read in READERS:
        for path in sorted(root.glob(pattern)):
            for line, text in read(path):
                for rule in RULES:
                    if re.match(rule.allowed, str(path.relative_to(root))):
                        continue
                    if found := rule.finds(text):
                        near = text[max(0, found.start() - 40) : found.end() + 40]
                        yield f"{path.relative_to(root)}:{line}: …{near}… -> as in {rule.good!r}"


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    found = list(findings(root))
    for line in found:
        print(line)
    print(f"{len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
