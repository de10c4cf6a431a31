"""Checks the protocol models of Tests/Integration/Models: a bounded Dolev-Yao search.

    protocol_checker.py [--copies N] MODEL.pv...

The models are written in the part of ProVerif's language that `Parser` reads; anything else is an error. Where ProVerif
proves a query for any number of runs, this search tries all interleavings of at most N copies of each replicated process
(default: what the model's head says, else 2), against an attacker who controls every public channel. The messages that the
attacker sends are symbolic: they are solved for, not guessed. The exception are types that a function makes, such as public
keys and the points of a Diffie-Hellman exchange: of those the attacker sends what it has seen, and its own ones. So a query that is found false is false, with the trace
printed; one that is not found false holds for that many runs.

The head of a model has one `(* expect: … *)` with `true` or `false` for each query, in their order. Prints a line for each
query, and exits with 1 if one differs.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

COPIES = 2
TOKEN = re.compile(r"==>|&&|<>|<-|[A-Za-z_][A-Za-z0-9_'-]*|\d+|[()\[\],;:.|!=]|\s+|.", re.S)
RESERVED = frozenset(
    "among axiom channel choice clauses const def diff do elimtrue else equation equivalence event expand fail for forall "
    "foreach free fun get if implementation in inj-event insert lemma let letfun letproba new noninterf noselect not "
    "nounif or otherwise out param phase pred proba process proof public_vars putbegin query reduc restriction secret "
    "select set suchthat sync table then type weaksecret yield".split()
)


class ModelError(Exception):
    """A model that can't be read."""


def without_comments(text: str) -> str:
    """Comments may be nested."""
    found: list[str] = []
    depth = 0
    for part in re.split(r"(\(\*|\*\))", text):
        if part == "(*":
            depth += 1
        elif part == "*)" and depth:
            depth -= 1
        elif not depth:
            found.append(part)
    if depth:
        raise ModelError("a comment has no end")
    return "".join(found)


def tokens(text: str) -> list[str]:
    return [token for token in TOKEN.findall(text) if not token.isspace()]


# --- The syntax ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Node:
    """One step of a process, and what follows it."""

    kind: str
    data: tuple[Any, ...] = ()
    then: tuple[Node, ...] = ()


STOP = Node("0")


@dataclass(frozen=True)
class Query:
    """`event(…)`, `event(…) ==> event(…) && …` or `attacker(…)`."""

    text: str
    variables: frozenset[str]
    goal: tuple[bool, tuple[Any, ...]]
    premises: tuple[tuple[bool, tuple[Any, ...]], ...] = ()
    phase: int = 0

    @property
    def is_secrecy(self) -> bool:
        return self.goal[1][:2] == ("call", "attacker")


@dataclass
class Model:
    functions: dict[str, tuple[int, bool]] = field(default_factory=dict)  # arity, whether the attacker may apply it
    data: set[str] = field(default_factory=set)
    rules: dict[str, list[tuple[tuple[Any, ...], tuple[Any, ...]]]] = field(default_factory=dict)
    names: dict[str, bool] = field(default_factory=dict)  # whether the attacker has it
    types: dict[str, str] = field(default_factory=dict)  # of names
    # The functions that make a value of a type, each with the types of its arguments.
    makers: dict[str, list[tuple[str, list[str]]]] = field(default_factory=dict)
    shorthands: dict[str, tuple[list[str], Any]] = field(default_factory=dict)
    processes: dict[str, tuple[list[str], Node]] = field(default_factory=dict)
    events: dict[str, int] = field(default_factory=dict)
    queries: list[Query] = field(default_factory=list)
    main: Node = STOP


class Parser:
    def __init__(self, text: str, model: Model) -> None:
        self.tokens = tokens(text)
        self.place = 0
        self.model = model
        self.types = {"bitstring", "channel", "bool", "nat"}

    def peek(self, ahead: int = 0) -> str:
        return self.tokens[self.place + ahead] if self.place + ahead < len(self.tokens) else ""

    def take(self, *wanted: str) -> str:
        token = self.peek()
        if wanted and token not in wanted:
            near = " ".join(self.tokens[max(0, self.place - 8) : self.place + 4])
            raise ModelError(f"expected {' or '.join(wanted)}, not {token!r}: … {near} …")
        self.place += 1
        return token

    def took(self, token: str) -> bool:
        if self.peek() != token:
            return False
        self.place += 1
        return True

    def identifier(self) -> str:
        token = self.take()
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_']*", token) or token in RESERVED:
            raise ModelError(f"{token!r} is not an identifier")
        return token

    def type(self) -> str:
        token = self.take()
        if token not in self.types:
            raise ModelError(f"unknown type {token!r}")
        return token

    def parameters(self, end: str) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        while self.peek() != end:
            names = [self.identifier()]
            while self.took(","):
                names.append(self.identifier())
            self.take(":")
            kind = self.type()
            found += [(name, kind) for name in names]
            if not self.took(","):
                break
        return found

    def options(self) -> set[str]:
        found: set[str] = set()
        if self.took("["):
            while not self.took("]"):
                found.add(self.take())
                self.took(",")
        return found

    # Terms are parsed to ("id", name), ("call", name, arguments...) and ("tuple", parts...).

    def term(self) -> tuple[Any, ...]:
        if self.took("("):
            parts = [self.term()]
            while self.took(","):
                parts.append(self.term())
            self.take(")")
            return parts[0] if len(parts) == 1 else ("tuple", *parts)
        name = self.take() if self.peek() in ("attacker", "true", "false") else self.identifier()
        if not self.took("("):
            return ("id", name)
        arguments: list[Any] = []
        while not self.took(")"):
            arguments.append(self.term())
            self.took(",")
        return ("call", name, *arguments)

    def pattern(self) -> tuple[Any, ...]:
        if self.took("="):
            return ("equal", self.term())
        if self.took("("):
            parts = [self.pattern()]
            while self.took(","):
                parts.append(self.pattern())
            self.take(")")
            return parts[0] if len(parts) == 1 else ("tuple", *parts)
        name = self.identifier()
        return ("bind", name, self.type() if self.took(":") else "bitstring")

    def conditions(self) -> list[tuple[bool, Any, Any]]:
        found = []
        while True:
            left = self.term()
            operator = self.take("=", "<>")
            found.append((operator == "=", left, self.term()))
            if not self.took("&&"):
                return found

    def process(self) -> Node:
        parts = [self.sequence()]
        while self.took("|"):
            parts.append(self.sequence())
        return parts[0] if len(parts) == 1 else Node("|", (), tuple(parts))

    def rest(self) -> Node:
        return self.sequence() if self.took(";") else STOP

    def branches(self) -> tuple[Node, Node]:
        then = self.sequence()
        return then, self.sequence() if self.took("else") else STOP

    def sequence(self) -> Node:
        if self.took("("):
            inner = self.process()
            self.take(")")
            return inner
        if self.took("!"):
            return Node("!", (), (self.sequence(),))
        token = self.take()
        if token == "0":
            return STOP
        if token == "new":
            name = self.identifier()
            self.take(":")
            kind = self.type()
            return Node("new", (name, kind), (self.rest(),))
        if token == "phase":
            number = int(self.take())
            return Node("phase", (number,), (self.rest(),))
        if token in ("in", "out"):
            self.take("(")
            channel = self.term()
            self.take(",")
            data = self.pattern() if token == "in" else self.term()
            self.take(")")
            return Node(token, (channel, data), (self.rest(),))
        if token == "event":
            return Node("event", (self.term(),), (self.rest(),))
        if token == "if":
            conditions = self.conditions()
            self.take("then")
            return Node("if", (tuple(conditions),), self.branches())
        if token == "let":
            pattern = self.pattern()
            self.take("=")
            term = self.term()
            self.take("in")
            return Node("let", (pattern, term), self.branches())
        if token in self.model.processes:
            self.take("(")
            arguments: list[Any] = []
            while not self.took(")"):
                arguments.append(self.term())
                self.took(",")
            return Node("call", (token, tuple(arguments)))
        raise ModelError(f"{token!r} begins no process")

    def goal(self) -> tuple[bool, tuple[Any, ...]]:
        if self.took("inj-event"):
            self.take("(")
            term = self.term()
            self.take(")")
            return True, term
        if self.took("event"):
            self.take("(")
            term = self.term()
            self.take(")")
            return False, term
        return False, self.term()

    def query(self) -> Query:
        start = self.place
        variables: list[tuple[str, str]] = []
        end = self.tokens.index(".", self.place)
        if ";" in self.tokens[self.place : end]:
            variables = self.parameters(";")
            self.take(";")
        goal, premises, phase = self.goal(), [], 0
        if self.took("phase"):
            phase = int(self.take())
        if self.took("==>"):
            premises.append(self.goal())
            while self.took("&&"):
                premises.append(self.goal())
        text = re.sub(r" ?([(),:;]) ?", r"\1", " ".join(self.tokens[start : self.place])).replace(",", ", ")
        return Query(text.split(";")[-1], frozenset(name for name, _ in variables), goal, tuple(premises), phase)

    def declarations(self) -> None:
        model = self.model
        while self.peek():
            word = self.take()
            if word == "process":
                model.main = self.process()
                if self.peek():
                    raise ModelError(f"{self.peek()!r} comes after the process")
                return
            if word == "type":
                self.types.add(self.identifier())
            elif word in ("free", "const"):
                names = [self.identifier()]
                while self.took(","):
                    names.append(self.identifier())
                self.take(":")
                kind = self.type()
                private = "private" in self.options()
                model.names.update(dict.fromkeys(names, not private))
                model.types.update(dict.fromkeys(names, kind))
            elif word == "fun":
                name = self.identifier()
                self.take("(")
                taken: list[str] = []
                while not self.took(")"):
                    taken.append(self.type())
                    self.took(",")
                self.take(":")
                kind = self.type()
                options = self.options()
                model.functions[name] = (len(taken), "private" not in options)
                if kind != "bitstring":
                    model.makers.setdefault(kind, []).append((name, taken))
                if "data" in options:
                    model.data.add(name)
            elif word == "reduc":
                self.take("forall")
                self.parameters(";")
                self.take(";")
                left = self.term()
                self.take("=")
                model.rules.setdefault(left[1], []).append((left[2:], self.term()))
            elif word == "equation":
                self.take("forall")
                self.parameters(";")
                self.take(";")
                left, _, right = self.term(), self.take("="), self.term()
                expected = "('call', 'exp', ('call', 'exp', ('id', 'g'), ('id', 'x')), ('id', 'y'))"
                if str(left) != expected or str(right) != expected.replace("'x'", "'_'").replace("'y'", "'x'").replace(
                    "'_'", "'y'"
                ):
                    raise ModelError("the only equation that is known is that of exp and g")
            elif word == "event":
                name = self.identifier()
                self.take("(")
                arity = 0
                while not self.took(")"):
                    self.type()
                    arity += 1
                    self.took(",")
                model.events[name] = arity
            elif word == "query":
                model.queries.append(self.query())
            elif word == "letfun":
                name = self.identifier()
                self.take("(")
                parameters = [name for name, _ in self.parameters(")")]
                self.take(")")
                self.take("=")
                model.shorthands[name] = (parameters, self.term())
            elif word == "let":
                name = self.identifier()
                self.take("(")
                parameters = [name for name, _ in self.parameters(")")]
                self.take(")")
                self.take("=")
                model.processes[name] = (parameters, self.process())
            else:
                raise ModelError(f"{word!r} begins no declaration")
            self.take(".")
        raise ModelError("there is no process")


def parse(text: str) -> Model:
    """Reads a model, without its comments."""
    model = Model()
    Parser(text, model).declarations()
    for query in model.queries:
        for _, term in (query.goal, *query.premises):
            if term[0] == "call" and term[1] != "attacker" and model.events.get(term[1]) != len(term) - 2:
                raise ModelError(f"unknown event {term[1]!r}, or with another number of arguments")
    return model


@dataclass(frozen=True)
class Mutant:
    """A model with a fault, and the queries that the fault has to make false."""

    name: str
    queries: tuple[int, ...]
    text: str


@dataclass(frozen=True)
class Source:
    """The text of a model's file, and what its head says."""

    text: str
    expected: tuple[bool, ...]
    copies: int
    mutants: tuple[Mutant, ...]


def read(path: Path) -> Source:
    text = path.read_text()
    uses = re.search(r"\(\* uses: (.*?) \*\)", text)
    libraries = [(path.parent / name).read_text() for name in uses[1].split()] if uses else []
    code = without_comments("\n".join([*libraries, text]))
    expected = re.search(r"\(\* expect: ((?:true|false|\s)+)\*\)", text)
    copies = re.search(r"\(\* copies: (\d+) \*\)", text)
    mutants = []
    for numbers, name, changes in re.findall(r"\(\* mutant ([\d ]+):\s+(.*?)\n(.*?)\*\)", text, re.S):
        changed = code
        pairs = re.findall(r"^ +- (.*)\n +\+ ?(.*)$", changes, re.M)
        for old, new in pairs:
            if old not in changed:
                raise ModelError(f"{path.name}: the mutant {name!r} changes what is not there: {old}")
            changed = changed.replace(old, new.strip())
        mutants.append(Mutant(name, tuple(int(number) - 1 for number in numbers.split()), changed))
    return Source(
        code,
        tuple(word == "true" for word in expected[1].split()) if expected else (),
        int(copies[1]) if copies else COPIES,
        tuple(mutants),
    )


# --- Terms ---------------------------------------------------------------------------------------------------------------


class Term:
    """A variable ("v"), a name ("n"), an application ("f") or an exponentiation ("x": its base, and its scalars in order).

    Equal terms are the same object.
    """

    __slots__ = ("is_ground", "kind", "number", "parts", "symbol", "variables")
    made: ClassVar[dict[Any, Term]] = {}

    def __init__(self, kind: str, symbol: Any, parts: tuple[Term, ...]) -> None:
        self.kind, self.symbol, self.parts = kind, symbol, parts
        self.variables: frozenset[Term] = frozenset().union(*(part.variables for part in parts))
        if kind == "v":
            self.variables = frozenset([self])
        self.is_ground = not self.variables
        self.number = len(Term.made)


Sub = dict[Term, Term]


def make(kind: str, symbol: Any, parts: tuple[Term, ...] = ()) -> Term:
    key = (kind, symbol, parts)
    term = Term.made.get(key)
    if term is None:
        term = Term.made[key] = Term(kind, symbol, parts)
    return term


def name_of(symbol: str) -> Term:
    return make("n", symbol)


def variable(number: int) -> Term:
    return make("v", number)


def apply(symbol: str, *parts: Term) -> Term:
    return make("f", symbol, parts)


def exponent(base: Term, scalar: Term) -> Term:
    first, scalars = (base.parts[0], base.parts[1:]) if base.kind == "x" else (base, ())
    return make("x", "", (first, *sorted((*scalars, scalar), key=lambda term: term.number)))


def resolve(term: Term, sub: Sub) -> Term:
    if term.is_ground or not sub:
        return term
    if term.kind == "v":
        found = sub.get(term)
        return term if found is None else resolve(found, sub)
    if term.variables.isdisjoint(sub):
        return term
    # Exponentiations have no variables.
    return make("f", term.symbol, tuple(resolve(part, sub) for part in term.parts))


def unify(left: Term, right: Term, sub: Sub) -> Sub | None:
    left, right = resolve(left, sub), resolve(right, sub)
    if left is right:
        return sub
    for one, other in ((left, right), (right, left)):
        if one.kind == "v":
            return None if one in other.variables else {**sub, one: other}
    # Exponentiations have no variables: equal ones are the same.
    if left.kind == right.kind == "f" and left.symbol == right.symbol and len(left.parts) == len(right.parts):
        current: Sub | None = sub
        for one, other in zip(left.parts, right.parts, strict=True):
            if current is None:
                return None
            current = unify(one, other, current)
        return current
    return None


def variables_in(term: Term) -> list[Term]:
    return sorted(term.variables, key=lambda one: one.number)


def match(pattern: tuple[Any, ...], term: Term, found: dict[str, Term], names: dict[str, Term]) -> bool:
    """A parsed pattern of a rule or a query, against a term as it is. Binds identifiers that `names` doesn't have."""
    if pattern[0] == "id":
        known = names.get(pattern[1]) or found.get(pattern[1])
        if known is None:
            found[pattern[1]] = term
            return True
        return known is term
    if pattern[0] == "call" and pattern[1] == "exp":
        return term is exponent(names[pattern[2][1]], names[pattern[3][1]])
    symbol, parts = ("tuple", pattern[1:]) if pattern[0] == "tuple" else (pattern[1], pattern[2:])
    if term.kind == "f" and term.symbol == symbol and len(term.parts) == len(parts):
        return all(match(part, other, found, names) for part, other in zip(parts, term.parts, strict=True))
    return False


@dataclass
class Knowledge:
    """What the attacker can take apart, and what it was found to be able to make of that."""

    parts: set[Term]
    derived: dict[Term, bool] = field(default_factory=dict)

    def may_have(self, term: Term) -> bool:
        """Whether something like the term, or like a part of it that is open, came as a whole."""
        if term.is_ground or term.kind == "v":
            return False
        return any(part.kind == "f" and part.symbol == term.symbol for part in self.parts) or any(
            self.may_have(part) for part in term.parts
        )


# --- The search ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Config:
    """A process at a step. `id` numbers the copy, so that names of different copies differ."""

    node: Node
    env: tuple[tuple[str, Term], ...]
    id: str
    made: int = 0


@dataclass(frozen=True)
class State:
    configs: tuple[Config, ...] = ()
    knowledge: tuple[Term, ...] = ()
    # What the attacker has sent, each with what it knew then. Only variables are left.
    owed: tuple[tuple[tuple[Term, ...], Term], ...] = ()
    # What must stay different, or must stay undefined.
    apart: tuple[tuple[str, Term, Term], ...] = ()
    events: tuple[Term, ...] = ()
    phase: int = 0
    variables: int = 0
    trace: tuple[str, ...] = ()


ATTACKER_SCALAR = name_of("attacker's scalar")


class Search:
    """All runs of a model. `violated` has the trace for each query that is false."""

    def __init__(self, model: Model, copies: int, limit: int = 200_000) -> None:
        self.model = model
        self.copies = copies
        self.names: dict[str, Term] = {name: name_of(name) for name in model.names}
        self.names |= {"true": name_of("true"), "false": name_of("false")}
        public = [self.names[name] for name, is_public in model.names.items() if is_public]
        self.public = (*public, self.names["true"], self.names["false"])
        self.has_points = "exp" in model.functions
        if self.has_points:
            self.public += (ATTACKER_SCALAR, exponent(name_of("g"), ATTACKER_SCALAR))
        self.violated: dict[int, tuple[str, ...]] = {}
        self.seen: set[Any] = set()
        self.analyses: dict[frozenset[Term], Knowledge] = {}
        self.limit = limit

    def run(self, wanted: frozenset[int] | None = None) -> Search:
        """Until all is tried, or these queries are false; `None` = all of them."""
        wanted = wanted if wanted is not None else frozenset(range(len(self.model.queries)))
        start = State(knowledge=self.public)
        stack = list(self.proceed(start, Config(self.model.main, tuple(self.names.items()), "")))
        for state in stack:
            self.judge_knowledge(state)
        while stack and not wanted <= self.violated.keys():
            state = stack.pop()
            for following in self.steps(state):
                key = self.key(following)
                if key in self.seen:
                    continue
                self.seen.add(key)
                if len(self.seen) > self.limit:
                    raise ModelError(f"more than {self.limit} states")
                self.judge_knowledge(following)
                stack.append(following)
        return self

    def key(self, state: State) -> Any:
        order: dict[Term, int] = {}

        def canonical(term: Term) -> Term:
            if term.is_ground:
                return term
            if term.kind == "v":
                return make("v", ("canonical", order.setdefault(term, len(order))))
            return make(term.kind, term.symbol, tuple(canonical(part) for part in term.parts))

        configs = tuple(
            sorted(
                ((id(c.node), c.id, c.made, tuple((n, canonical(t)) for n, t in c.env)) for c in state.configs),
                key=lambda item: (item[1], item[0]),
            )
        )
        return (
            configs,
            frozenset(canonical(t) for t in state.knowledge),
            tuple((frozenset(canonical(t) for t in known), canonical(v)) for known, v in state.owed),
            frozenset((k, canonical(a), canonical(b)) for k, a, b in state.apart),
            tuple(sorted(canonical(t).number for t in state.events)),
            state.phase,
        )

    # What the attacker can make.

    def analysis(self, knowledge: Sequence[Term]) -> Knowledge:
        start = frozenset(knowledge)
        if (known := self.analyses.get(start)) is not None:
            return known
        parts = set(start)
        while True:
            # What can be made changes with each round.
            known = Knowledge(parts)
            more: set[Term] = set()
            for term in parts:
                if term.kind == "f":
                    if term.symbol == "tuple" or term.symbol in self.model.data:
                        more.update(term.parts)
                    more.update(self.opened(term, known))
            if more <= parts:
                break
            parts = parts | more
        self.analyses[start] = known
        return known

    def opened(self, term: Term, known: Knowledge) -> Iterator[Term]:
        """What a destructor makes of a term, where the attacker has what that takes besides."""
        for rules in self.model.rules.values():
            for left, right in rules:
                for place, pattern in enumerate(left):
                    found: dict[str, Term] = {}
                    if pattern[0] == "id" or not match(pattern, term, found, self.names):
                        continue
                    needed = [self.instance(part, found) for index, part in enumerate(left) if index != place]
                    result = self.instance(right, found)
                    if result and all(part and self.derives(known, part) for part in needed):
                        yield result

    def instance(self, pattern: tuple[Any, ...], found: dict[str, Term]) -> Term | None:
        if pattern[0] == "id":
            return self.names.get(pattern[1]) or found.get(pattern[1])
        symbol, parts = ("tuple", pattern[1:]) if pattern[0] == "tuple" else (pattern[1], pattern[2:])
        if symbol == "exp":
            return exponent(self.names[parts[0][1]], self.names[parts[1][1]])
        made: list[Term] = []
        for part in parts:
            if (one := self.instance(part, found)) is None:
                return None
            made.append(one)
        return apply(symbol, *made)

    def derives(self, known: Knowledge, term: Term) -> bool:
        """What the attacker has chosen itself, the variables, it has."""
        if term.kind == "v" or term in known.parts:
            return True
        if (result := known.derived.get(term)) is None:
            result = False
            if term.kind == "f":
                result = self.is_public(term.symbol) and all(self.derives(known, part) for part in term.parts)
            elif term.kind == "x":
                base, *scalars = term.parts
                for index, scalar in enumerate(scalars):
                    rest = base
                    for other in scalars[:index] + scalars[index + 1 :]:
                        rest = exponent(rest, other)
                    result = result or (self.derives(known, scalar) and self.derives(known, rest))
            known.derived[term] = result
        return result

    def is_public(self, symbol: str) -> bool:
        return symbol == "tuple" or self.model.functions.get(symbol, (0, False))[1]

    def solutions(self, knowledge: tuple[Term, ...], term: Term, sub: Sub) -> Iterator[Sub]:
        """How the attacker can send a term of that form."""
        term = resolve(term, sub)
        if term.kind == "v":
            yield sub
            return
        known = self.analysis([resolve(part, sub) for part in knowledge])
        if term.is_ground or not known.may_have(term):
            # If it can make one with any values of the variables, those with certain values are among them.
            if self.derives(known, term):
                yield sub
            return
        # As it came: the attacker need not know what is in it.
        for part in known.parts:
            if part.kind == "f" and part.symbol == term.symbol and (solved := unify(part, term, sub)) is not None:
                yield solved
        if self.is_public(term.symbol):
            yield from self.all_solutions([(knowledge, part) for part in term.parts], sub)

    def all_solutions(self, owed: Sequence[tuple[tuple[Term, ...], Term]], sub: Sub) -> Iterator[Sub]:
        if not owed:
            yield sub
            return
        (knowledge, term), *rest = owed
        for solved in self.solutions(knowledge, term, sub):
            yield from self.all_solutions(rest, solved)

    def bound(self, state: State, sub: Sub) -> Iterator[State]:
        """The state under a substitution, for each way in which the attacker can have sent what it has sent."""
        if not sub:
            yield state
            return
        seen: set[tuple[tuple[int, int], ...]] = set()
        for solved in self.settled(state.owed, sub):
            identity = tuple(sorted((v.number, resolve(v, solved).number) for v in solved))
            if identity in seen:
                continue
            seen.add(identity)
            following = self.substituted(state, solved)
            if not any(self.is_broken(item) for item in following.apart):
                yield following

    def settled(self, owed: Sequence[tuple[tuple[Term, ...], Term]], sub: Sub) -> Iterator[Sub]:
        """Until only variables are owed: what is bound later may bind what was settled before."""
        for solved in self.all_solutions(owed, sub):
            if solved == sub:
                yield solved
            else:
                yield from self.settled(owed, solved)

    def substituted(self, state: State, sub: Sub) -> State:
        owed: list[tuple[tuple[Term, ...], Term]] = []
        for knowledge, term in state.owed:
            known = tuple(resolve(part, sub) for part in knowledge)
            for one in variables_in(resolve(term, sub)):
                if all(one is not other for _, other in owed):
                    owed.append((known, one))
        return replace(
            state,
            configs=tuple(replace(c, env=tuple((n, resolve(t, sub)) for n, t in c.env)) for c in state.configs),
            knowledge=tuple(resolve(part, sub) for part in state.knowledge),
            owed=tuple(owed),
            apart=tuple((kind, resolve(a, sub), resolve(b, sub)) for kind, a, b in state.apart),
            events=tuple(resolve(event, sub) for event in state.events),
        )

    def is_broken(self, item: tuple[str, Term, Term]) -> bool:
        kind, left, right = item
        if kind == "differ":
            return left is right
        # ("undefined", destructor, arguments)
        for patterns, _ in self.model.rules[left.symbol]:
            found: dict[str, Term] = {}
            if all(match(p, t, found, self.names) for p, t in zip(patterns, right.parts, strict=True)):
                return True
        return False

    # Terms of a process.

    def values(self, term: tuple[Any, ...], env: dict[str, Term], state: State) -> Iterator[tuple[Term, Sub, State]]:
        """The value, what it needs to be bound, and the state with the variables that it takes."""
        if term[0] == "id":
            if term[1] not in env:
                raise ModelError(f"unknown name {term[1]!r}")
            yield env[term[1]], {}, state
            return
        symbol, parts = ("tuple", term[1:]) if term[0] == "tuple" else (term[1], term[2:])
        for arguments, sub, after in self.lists(parts, env, state):
            yield from self.applied(symbol, arguments, sub, after)

    def lists(
        self, parts: Sequence[Any], env: dict[str, Term], state: State
    ) -> Iterator[tuple[tuple[Term, ...], Sub, State]]:
        if not parts:
            yield (), {}, state
            return
        for value, sub, after in self.values(parts[0], env, state):
            for others, more, last in self.lists(parts[1:], env, after):
                merged = self.merge(sub, more)
                if merged is not None:
                    yield (value, *others), merged, last

    @staticmethod
    def merge(one: Sub, other: Sub) -> Sub | None:
        if not one or not other:
            return one or other
        merged: Sub | None = dict(one)
        for one_variable, term in other.items():
            if merged is not None:
                merged = unify(one_variable, term, merged)
        return merged

    def applied(
        self, symbol: str, arguments: tuple[Term, ...], sub: Sub, state: State
    ) -> Iterator[tuple[Term, Sub, State]]:
        if symbol in self.model.shorthands:
            names, body = self.model.shorthands[symbol]
            env = {**self.names, **dict(zip(names, arguments, strict=True))}
            for value, more, after in self.values(body, env, state):
                merged = self.merge(sub, more)
                if merged is not None:
                    yield value, merged, after
        elif symbol == "exp":
            yield exponent(*arguments), sub, state
        elif symbol in self.model.rules:
            for patterns, right in self.model.rules[symbol]:
                found: dict[str, Term] = {}
                count = state.variables
                for name in identifiers(patterns):
                    if name not in self.names:
                        found[name] = variable(count)
                        count += 1
                solved: Sub | None = sub
                for pattern, argument in zip(patterns, arguments, strict=True):
                    part = self.instance(pattern, found)
                    assert part is not None
                    solved = None if solved is None else unify(part, argument, solved)
                result = self.instance(right, found)
                if solved is not None and result is not None:
                    yield resolve(result, solved), solved, replace(state, variables=count)
        elif symbol == "tuple" or self.model.functions.get(symbol, (-1, False))[0] == len(arguments):
            yield apply(symbol, *arguments), sub, state
        else:
            raise ModelError(f"unknown function {symbol!r}, or with another number of arguments")

    def undefined(self, term: tuple[Any, ...], env: dict[str, Term], state: State) -> State | None:
        """The state in which a destructor fails; `nil` for a term without one, which always has a value."""
        if term[0] != "call" or term[1] not in self.model.rules:
            return None
        for arguments, sub, after in self.lists(term[2:], env, state):
            if not sub:
                item = ("undefined", apply(term[1]), apply("arguments", *arguments))
                return None if self.is_broken(item) else replace(after, apart=(*after.apart, item))
        return None

    # Steps.

    def proceed(self, state: State, config: Config) -> Iterator[State]:
        """Runs a process until it waits, or has ended."""
        node, env = config.node, dict(config.env)

        def go(to: Node, state: State, env: dict[str, Term] = env) -> Iterator[State]:
            yield from self.proceed(state, replace(config, node=to, env=tuple(env.items())))

        if node.kind == "0":
            yield state
        elif node.kind == "call":
            names, body = self.model.processes[node.data[0]]
            for arguments, _, after in self.lists(node.data[1], env, state):
                yield from go(body, after, {**self.names, **dict(zip(names, arguments, strict=True))})
        elif node.kind == "|":
            states = [state]
            for index, part in enumerate(node.then):
                child = replace(config, node=part, id=f"{config.id}.{index}")
                # What only tells the attacker something, tells it at once.
                if self.waits(part):
                    states = [replace(s, configs=(*s.configs, child)) for s in states]
                else:
                    states = [after for s in states for after in self.proceed(s, child)]
            yield from states
        elif node.kind in ("!", "in", "phase"):
            yield replace(state, configs=(*state.configs, config))
        elif node.kind == "new":
            name = name_of(f"{node.data[0]}{config.id}")
            yield from go(node.then[0], state, {**env, node.data[0]: name})
        elif node.kind == "out":
            for (channel, message), sub, after in self.lists(node.data, env, state):
                assert not sub
                if self.derives(self.analysis(after.knowledge), channel):
                    known = after.knowledge if message in after.knowledge else (*after.knowledge, message)
                    yield from go(node.then[0], replace(after, knowledge=known))
                else:
                    yield replace(after, configs=(*after.configs, config))
        elif node.kind == "event":
            term = node.data[0]
            for arguments, _, after in self.lists(term[2:], env, state):
                event = apply(term[1], *arguments)
                following = replace(
                    after, events=(*after.events, event), trace=(*after.trace, f"{config.id}: event {show(event)}")
                )
                self.judge_event(following, event)
                yield from go(node.then[0], following)
        elif node.kind == "if":
            yield from self.decide(state, config, list(node.data[0]))
        elif node.kind == "let":
            pattern, term = node.data
            for value, sub, after in self.values(term, env, state):
                yield from self.bind(pattern, value, sub, after, replace(config, node=node.then[0]))
            if node.then[1] is not STOP and (failed := self.undefined(term, env, state)) is not None:
                yield from go(node.then[1], failed)

    def waits(self, node: Node) -> bool:
        """Whether this process has an event, or waits, before it tells the attacker something."""
        if node.kind == "call":
            return self.waits(self.model.processes[node.data[0]][1])
        if node.kind in ("new", "let"):
            return self.waits(node.then[0])
        return not (node.kind == "out" and node.data[0][1] in self.model.names)

    def decide(self, state: State, config: Config, conditions: list[Any]) -> Iterator[State]:
        env = dict(config.env)
        node = config.node
        if not conditions:
            yield from self.proceed(state, replace(config, node=node.then[0]))
            return
        (is_equal, left, right), *rest = conditions
        for (one, other), sub, after in self.lists((left, right), env, state):
            solved = unify(one, other, sub)
            equal = [] if solved is None else self.rebound(after, solved, config)
            if is_equal:
                for following, changed in equal:
                    yield from self.decide(following, changed, rest)
            elif node.then[1] is not STOP:
                for following, changed in equal:
                    yield from self.proceed(following, replace(changed, node=node.then[1]))
            # They differ.
            target = node.then[1] if is_equal else None
            if target is STOP:
                continue
            for following, changed in self.rebound(after, sub, config):
                item = ("differ", resolve(one, sub), resolve(other, sub))
                if self.is_broken(item):
                    continue
                following = replace(following, apart=(*following.apart, item))
                if target is not None:
                    yield from self.proceed(following, replace(changed, node=target))
                else:
                    yield from self.decide(following, changed, rest)

    def rebound(self, state: State, sub: Sub, config: Config) -> Iterator[tuple[State, Config]]:
        """As ``bound``, with a process that is not among those of the state."""
        for following in self.bound(replace(state, configs=(*state.configs, config)), sub):
            yield replace(following, configs=following.configs[:-1]), following.configs[-1]

    def bind(self, pattern: tuple[Any, ...], value: Term, sub: Sub, state: State, config: Config) -> Iterator[State]:
        """Matches a value, then goes on."""
        env = dict(config.env)
        names: list[tuple[str, Term]] = []
        made: list[tuple[Term, str]] = []
        solved: Sub | None = sub
        count = state.variables
        todo = [(pattern, value)]
        while todo and solved is not None:
            (kind, *data), term = todo.pop()
            term = resolve(term, solved)
            if kind == "bind":
                names.append((data[0], term))
                if data[1] in self.model.makers:
                    made.append((term, data[1]))
            elif kind == "equal":
                wanted = next(self.values(data[0], env, state))[0]
                solved = unify(wanted, term, solved)
            else:
                fresh = tuple(variable(count + index) for index in range(len(data)))
                count += len(data)
                solved = unify(apply("tuple", *fresh), term, solved)
                todo += list(zip(data, fresh, strict=True))
        if solved is None:
            return
        after = replace(state, variables=count)
        for chosen in self.chosen(made, solved, after):
            env.update({name: resolve(term, chosen) for name, term in names})
            for following, changed in self.rebound(after, chosen, replace(config, env=tuple(env.items()))):
                yield from self.proceed(following, changed)

    def chosen(self, made: list[tuple[Term, str]], sub: Sub, state: State) -> Iterator[Sub]:
        """What the attacker has left open of types that a function makes, is one of the candidates."""
        if not made:
            yield sub
            return
        (term, kind), *rest = made
        value = resolve(term, sub)
        for one in [value] if value.kind != "v" else self.candidates(kind, state):
            yield from self.chosen(rest, sub if one is value else {**sub, value: one}, state)

    def steps(self, state: State) -> Iterator[State]:
        for index, config in enumerate(state.configs):
            others = replace(state, configs=state.configs[:index] + state.configs[index + 1 :])
            yield from self.step(others, config)
        phases = [c.node.data[0] for c in state.configs if c.node.kind == "phase"]
        if following := [phase for phase in phases if phase > state.phase]:
            number = min(following)
            # The others end.
            left = tuple(c for c in state.configs if c.node.kind == "phase" and c.node.data[0] >= number)
            states = [replace(state, phase=number, configs=(), trace=(*state.trace, f"phase {number}"))]
            for config in left:
                if config.node.data[0] == number:
                    resumed = replace(config, node=config.node.then[0])
                    states = [after for s in states for after in self.proceed(s, resumed)]
                else:
                    states = [replace(s, configs=(*s.configs, config)) for s in states]
            yield from states

    def step(self, others: State, config: Config) -> Iterator[State]:
        node = config.node
        if node.kind == "!":
            if config.made >= self.copies:
                return
            remaining = replace(config, made=config.made + 1)
            copy = Config(node.then[0], config.env, f"{config.id}!{config.made}")
            yield from self.first(replace(others, configs=(*others.configs, remaining)), copy)
        elif node.kind == "in":
            yield from self.receive(others, config)
        elif node.kind not in ("phase", "out"):
            # Part of a parallel composition that has not begun.
            yield from self.first(others, config)

    def first(self, others: State, config: Config) -> Iterator[State]:
        """A process that begins by waiting is begun by what it waits for."""
        while config.node.kind == "call":
            names, body = self.model.processes[config.node.data[0]]
            arguments, _, others = next(self.lists(config.node.data[1], dict(config.env), others))
            env = {**self.names, **dict(zip(names, arguments, strict=True))}
            config = replace(config, node=body, env=tuple(env.items()))
        if config.node.kind == "in":
            yield from self.receive(others, config)
        else:
            yield from self.proceed(others, config)

    def receive(self, others: State, config: Config) -> Iterator[State]:
        channel_term, pattern = config.node.data
        channel = next(self.values(channel_term, dict(config.env), others))[0]
        resumed = replace(config, node=config.node.then[0])
        if self.derives(self.analysis(others.knowledge), channel):
            for value, after in self.inputs(pattern, others, dict(config.env)):
                noted = replace(after, trace=(*after.trace, f"{config.id}: in {show(value)}"))
                owed = (
                    *noted.owed,
                    *((noted.knowledge, v) for v in variables_in(value) if v.symbol >= others.variables),
                )
                yield from self.settle(value, pattern, replace(noted, owed=owed), resumed)
            return
        for index, sender in enumerate(others.configs):
            if sender.node.kind != "out":
                continue
            (to, message), _, after = next(self.lists(sender.node.data, dict(sender.env), others))
            if to != channel:
                continue
            waiting = replace(after, configs=others.configs[:index] + others.configs[index + 1 :])
            for received in self.bind(pattern, message, {}, waiting, resumed):
                follow = replace(sender, node=sender.node.then[0])
                changed = replace(
                    received, trace=(*received.trace, f"{config.id}: in {show(message)} from {sender.id}")
                )
                # What the receiver has bound is bound for the sender, too: messages on private channels have no variables.
                yield from self.proceed(changed, follow)

    def settle(self, value: Term, pattern: tuple[Any, ...], state: State, config: Config) -> Iterator[State]:
        """The attacker sends this: the parts that are no variables have to be made."""
        for solved in self.settled([(state.knowledge, value), *state.owed], {}):
            for following, changed in self.rebound(state, solved, config):
                yield from self.bind(pattern, resolve(value, solved), {}, following, changed)

    def inputs(self, pattern: tuple[Any, ...], state: State, env: dict[str, Term]) -> Iterator[tuple[Term, State]]:
        if pattern[0] == "equal":
            yield next(self.values(pattern[1], env, state))[0], state
        elif pattern[0] == "tuple":
            yield from self.input_lists(pattern[1:], state, env, ())
        elif pattern[2] in self.model.makers:
            for value in self.candidates(pattern[2], state):
                yield value, state
        else:
            yield variable(state.variables), replace(state, variables=state.variables + 1)

    def candidates(self, kind: str, state: State) -> list[Term]:
        """The values of a type with functions, such as public keys: what was seen, and what the attacker makes of names."""
        known = self.analysis(state.knowledge)
        makers = self.model.makers[kind]
        found = {part for part in known.parts if part.kind == "x" and kind == "point" or part.symbol in dict(makers)}
        for name, taken in makers:
            own = [self.names[other] for other, type_ in self.model.types.items() if [type_] == taken]
            if name != "exp" and self.is_public(name):
                found |= {apply(name, one) for one in own if self.derives(known, one)}
        return sorted(found, key=lambda term: term.number)

    def input_lists(
        self, patterns: Sequence[Any], state: State, env: dict[str, Term], made: tuple[Term, ...]
    ) -> Iterator[tuple[Term, State]]:
        if not patterns:
            yield apply("tuple", *made), state
            return
        for value, after in self.inputs(patterns[0], state, env):
            yield from self.input_lists(patterns[1:], after, env, (*made, value))

    # Queries.

    def judge_knowledge(self, state: State) -> None:
        for index, query in enumerate(self.model.queries):
            if query.is_secrecy and index not in self.violated and query.phase == state.phase:
                secret = self.names[query.goal[1][2][1]]
                if self.derives(self.analysis(state.knowledge), secret):
                    self.violated[index] = (*state.trace, f"the attacker has {show(secret)}")

    def judge_event(self, state: State, event: Term) -> None:
        for index, query in enumerate(self.model.queries):
            goal = query.goal[1]
            if query.is_secrecy or index in self.violated or goal[1] != event.symbol:
                continue
            # What the attacker has left open, it may have chosen as the query says.
            wanted: dict[str, Term] = {}
            for name in identifiers([goal]):
                if name not in self.names:
                    wanted[name] = variable(state.variables + len(wanted))
            term = self.instance(goal, wanted)
            solved = unify(term, event, {}) if term else None
            if solved is None:
                continue
            chosen = replace(state, variables=state.variables + len(wanted))
            for following in self.bound(chosen, solved):
                happened = following.events[-1]
                found: dict[str, Term] = {}
                if match_event(goal, happened, found, self.names) and not (
                    query.premises and self.holds(query, following, happened, found)
                ):
                    self.violated[index] = following.trace
                    break

    def holds(self, query: Query, state: State, event: Term, found: dict[str, Term]) -> bool:
        earlier = state.events[:-1]
        for is_injective, premise in query.premises:
            causes = [other for other in earlier if match_event(premise, other, dict(found), self.names)]
            # Each of the events needs a cause of its own.
            needed = sum(other is event for other in state.events) if is_injective else 1
            if len(causes) < needed:
                return False
        return True


def match_event(pattern: tuple[Any, ...], event: Term, found: dict[str, Term], names: dict[str, Term]) -> bool:
    return event.symbol == pattern[1] and all(
        match(part, argument, found, names) for part, argument in zip(pattern[2:], event.parts, strict=True)
    )


def identifiers(patterns: Sequence[tuple[Any, ...]]) -> list[str]:
    found: list[str] = []
    for pattern in patterns:
        inner = (
            [pattern[1]] if pattern[0] == "id" else identifiers(pattern[2:] if pattern[0] == "call" else pattern[1:])
        )
        found += [name for name in inner if name not in found]
    return found


def show(term: Term) -> str:
    if term.kind == "v":
        return f"?{term.symbol}"
    if term.kind == "n":
        return str(term.symbol)
    parts = [show(part) for part in term.parts]
    if term.kind == "x":
        return "^".join(parts)
    return ("" if term.symbol == "tuple" else term.symbol) + f"({', '.join(parts)})"


def check(text: str, copies: int) -> tuple[Model, Search]:
    model = parse(text)
    return model, Search(model, copies).run()


def faults(path: Path, copies: int | None = None) -> Iterator[str]:
    """What a model's results are, and how they differ from what its head expects."""
    source = read(path)
    model, search = check(source.text, copies or source.copies)
    if len(source.expected) != len(model.queries):
        raise ModelError(f"{path.name} has {len(model.queries)} queries, and {len(source.expected)} expected results")
    for index, (query, expected) in enumerate(zip(model.queries, source.expected, strict=True)):
        is_true = index not in search.violated
        print(f"{path.name}: {query.text} is {str(is_true).lower()} ({len(search.seen)} states)")
        if is_true != expected:
            yield f"{path.name}: {query.text} is {str(is_true).lower()}"
            yield from ("    " + line for line in search.violated.get(index, ()))
        elif is_true and not any(index in mutant.queries for mutant in source.mutants):
            yield f"{path.name}: no mutant shows that {query.text} can be false"
    for mutant in source.mutants:
        broken = parse(mutant.text)
        for number in range(1, (copies or source.copies) + 1):
            search = Search(broken, number).run(frozenset(mutant.queries))
            if search.violated.keys() >= set(mutant.queries):
                break
        for index in mutant.queries:
            is_true = index not in search.violated
            print(f"{path.name}, {mutant.name}: {broken.queries[index].text} is {str(is_true).lower()}")
            if is_true:
                yield f"{path.name}: {broken.queries[index].text} is true although {mutant.name}"


def main(arguments: list[str]) -> int:
    copies = None
    if arguments[:1] == ["--copies"]:
        copies, arguments = int(arguments[1]), arguments[2:]
    status = 0
    for argument in arguments:
        for fault in faults(Path(argument), copies):
            print(f"FAULT {fault}")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
