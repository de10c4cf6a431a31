"""The tables for ctypes say what the header says, as a C parser reads it."""

from __future__ import annotations

import ast
import ctypes
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from bellwire import LogLevel, Presentation, Status, _signatures
from conftest import ROOT
from pycparser import c_ast, c_parser  # type: ignore[import-untyped]

HEADER = ROOT / "include/bellwire.h"
PACKAGE = ROOT / "bindings/python/src/bellwire"

# The header's includes, for a parser that is no compiler.
TYPES = """
typedef unsigned char uint8_t; typedef int int32_t; typedef long long int64_t; typedef unsigned long long uint64_t;
typedef unsigned long size_t;
"""


@pytest.fixture(scope="module")
def header() -> c_ast.FileAST:
    text = re.sub(r"^#include.*$", "", HEADER.read_text(), flags=re.MULTILINE)
    command = ["cc", "-E", "-P", "-D__attribute__(x)=", "-x", "c", "-"]
    done = subprocess.run(command, input=TYPES + text, capture_output=True, text=True, check=True)
    return c_parser.CParser().parse(done.stdout)


def spelled(node: c_ast.Node) -> str:
    """A type as C spells it, less const."""
    if isinstance(node, c_ast.PtrDecl):
        return spelled(node.type) + "*"
    if isinstance(node, (c_ast.TypeDecl, c_ast.Typename, c_ast.Decl)):
        return spelled(node.type)
    assert isinstance(node, c_ast.IdentifierType), node
    return " ".join(node.names)


INTEGERS = {
    "bw_status": ctypes.c_int32,
    "int32_t": ctypes.c_int32,
    "int64_t": ctypes.c_int64,
    "bw_subscription": ctypes.c_uint64,
    "size_t": ctypes.c_size_t,
    "double": ctypes.c_double,
}
CALLBACKS = {
    "bw_destroy": _signatures.Destroy,
    "bw_log_callback": _signatures.LogCallback,
    "bw_completion": _signatures.Completion,
    "bw_event_callback": _signatures.EventCallback,
    "bw_authorize_callback": _signatures.AuthorizeCallback,
    "bw_will_present_callback": _signatures.WillPresentCallback,
    "bw_present_callback": _signatures.PresentCallback,
}
HANDLES = {"bw_device*", "bw_desktop*", "bw_relay*"}


def expected(name: str, owned: bool = False) -> Any:
    """The ctypes type of a C type."""
    if name == "void":
        return None
    if name in INTEGERS:
        return INTEGERS[name]
    if name in CALLBACKS:
        return CALLBACKS[name]
    if name in HANDLES or name == "void*":
        return ctypes.c_void_p
    if name in ("char*", "uint8_t*"):
        return ctypes.c_void_p if owned else ctypes.c_char_p
    assert name.endswith("*"), name
    inner = expected(name[:-1])
    # What is pointed at is an address that has to be kept: a handle, or a text that is freed.
    return ctypes.POINTER(ctypes.c_void_p if inner is ctypes.c_char_p else inner)


def parameters(function: c_ast.FuncDecl) -> list[str]:
    found = [spelled(each) for each in function.args.params] if function.args else []
    return [] if found == ["void"] else found


def functions(header: c_ast.FileAST) -> dict[str, c_ast.FuncDecl]:
    return {d.name: d.type for d in header.ext if isinstance(d, c_ast.Decl) and isinstance(d.type, c_ast.FuncDecl)}


def test_every_function_has_the_types_of_the_header(header: c_ast.FileAST) -> None:
    declared = functions(header)
    assert len(declared) > 140
    assert set(declared) == set(_signatures.FUNCTIONS)
    for name, function in declared.items():
        result, arguments = _signatures.FUNCTIONS[name]
        # bw_last_error() gives a text that the caller frees.
        assert result is expected(spelled(function.type), owned=name == "bw_last_error"), name
        assert list(arguments) == [expected(each) for each in parameters(function)], name


def test_every_callback_has_the_types_of_the_header(header: c_ast.FileAST) -> None:
    declared = {
        each.name: each.type.type
        for each in header.ext
        if isinstance(each, c_ast.Typedef)
        and isinstance(each.type, c_ast.PtrDecl)
        and isinstance(each.type.type, c_ast.FuncDecl)
    }
    assert set(declared) == set(CALLBACKS)
    for name, function in declared.items():
        kind: Any = CALLBACKS[name]
        assert kind._restype_ is expected(spelled(function.type)), name
        assert list(kind._argtypes_) == [expected(each) for each in parameters(function)], name


def test_every_status_and_constant_is_that_of_the_header(header: c_ast.FileAST) -> None:
    constants: dict[str, int] = {}
    for each in header.ext:
        if isinstance(each, c_ast.Decl) and isinstance(each.type, c_ast.Enum):
            for value in each.type.values.enumerators:
                constants[value.name] = int(eval(compile(ast.parse(c_text(value.value), mode="eval"), "", "eval")))
    tables: list[tuple[str, Any]] = [("BW_", Status), ("BW_LOG_", LogLevel), ("BW_PRESENT_", Presentation)]
    ours = {prefix + name: int(value) for prefix, kind in tables for name, value in kind.__members__.items()}
    assert ours == constants
    macros = dict(re.findall(r"^#define (BW_\w+) (\S+)$", HEADER.read_text(), re.MULTILINE))
    assert int(macros["BW_ABI_VERSION"]) == _signatures.ABI_VERSION


def c_text(node: c_ast.Node) -> str:
    return f"-{c_text(node.expr)}" if isinstance(node, c_ast.UnaryOp) else str(node.value)


def test_every_function_is_used_by_the_package(header: c_ast.FileAST) -> None:
    """Whole, as bw_notification_<name>, or after the role of a handle: none is out of reach for Python."""
    words: set[str] = set()
    for path in PACKAGE.glob("*.py"):
        if path.name != "_signatures.py":
            for node in ast.walk(ast.parse(Path(path).read_text())):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    words.add(node.value)
                elif isinstance(node, ast.Attribute):
                    words.add(node.attr)
    # Python has a JSON parser of its own.
    unused = {"bw_json_text", "bw_json_integer", "bw_status_name"}
    missing = []
    for name in functions(header):
        short = re.sub(r"^bw_(device|desktop|relay|notification|inbox)_", "", name)
        if not {name, short, short.removesuffix("_async"), name.removesuffix("_async")} & words:
            missing.append(name)
    assert set(missing) <= unused, missing
