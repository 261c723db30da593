"""Translate papermill parameters to Go. README.md describes what a user sees.

papermill calls Translator.inspect with the cell tagged "parameters", then Translator.codify with the values, and passes
no notebook to the second. GoTranslator therefore keeps the types of the last inspected cell until codify uses them:
Go infers the type of a variable from its value, so that `var guidance = 2` is an int where `var guidance = 1.5` was a
float64, and the cells after it do not compile.
"""

import json
import math
import re
import threading

from papermill.engines import NBClientEngine as Engine
from papermill.exceptions import PapermillException
from papermill.models import Parameter
from papermill.translators import Translator, papermill_translators

__all__ = ["Engine", "GoTranslator"]

BITS = {"int": 64, "int8": 8, "int16": 16, "int32": 32, "rune": 32, "int64": 64}
UNSIGNED = {"uint": 64, "uint8": 8, "byte": 8, "uint16": 16, "uint32": 32, "uint64": 64}
FLOATS = ("float64", "float32")
BASIC = (*BITS, *UNSIGNED, *FLOATS, "string", "bool")
KEYWORDS = set(
    "break case chan const continue default defer else fallthrough for func go goto if import interface map package "
    "range return select struct switch type var".split()
)
UNITS = {"h": 3600e9, "m": 60e9, "s": 1e9, "ms": 1e6, "us": 1e3, "µs": 1e3, "ns": 1}

# One declaration: var NAME [TYPE] [= VALUE] [// HELP]. Inside var ( … ) the word var is absent.
STRING = r'"(?:[^"\\]|\\.)*"|`[^`]*`'
DECLARATION = re.compile(
    r"^\s*(?P<var>var\s+)?(?P<name>[^\W\d]\w*)(?:\s+(?P<type>(?:\[\])?[\w.]+))?"
    rf"(?:\s*=\s*(?P<value>(?:{STRING}|[^\"`/]|/(?!/))+?))?\s*(?://\s*(?P<help>.*))?$"
)


class GoParameterError(PapermillException, ValueError):
    """A value that the declared type of a Go parameter does not take."""


def type_of(value):
    """Return the Go type of a literal as source, "" where it is none of the known forms."""
    value = value.strip()
    if re.fullmatch(STRING, value, re.S):
        return "string"
    if value in ("true", "false"):
        return "bool"
    if re.fullmatch(r"[-+]?(?:0[xX][\da-fA-F_]+|0[bB][01_]+|0[oO]?[0-7_]*|[1-9][\d_]*)", value):
        return "int"
    if re.fullmatch(r"[-+]?(?:[\d_]+\.[\d_]*|\.[\d_]+|[\d_]+(?=[eE]))(?:[eE][-+]?\d+)?", value):
        return "float64"
    if re.search(r"\btime\.(?:Nano|Micro|Milli)?[sS]econd\b|\btime\.(?:Minute|Hour)\b", value):
        return "time.Duration" if re.fullmatch(r"[\w.*+\s]+", value) else ""
    made = re.match(r"((?:\[\])?\w+)\s*[({]", value)  # a conversion or a list
    if made and made[1].removeprefix("[]") in BASIC:
        return made[1]
    return ""


def declarations(source):
    """Yield (name, type, value, help) of each variable that a cell declares, in order."""
    grouped = False
    for line in source.splitlines():
        if line.startswith(("%%", "%main")):
            return
        if re.match(r"var\s*\(\s*(//.*)?$", line):
            grouped = True
        elif grouped and line.strip().startswith(")"):
            grouped = False
        elif found := DECLARATION.match(line):
            if grouped or found["var"]:
                kind = found["type"] or type_of(found["value"] or "")
                yield found["name"], kind, (found["value"] or "").strip(), found["help"] or ""


def quote(text):
    """Return a Go string literal. JSON escapes mean the same in Go, apart from halves of UTF-16 pairs."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f").replace("\ufeff", "\\ufeff")


def duration(text):
    """Return the nanoseconds of a Go duration such as 1h30m; None where it is none."""
    if not re.fullmatch(r"[-+]?(?:\d+(?:\.\d*)?(?:h|ms|us|µs|ns|m|s))+", text):
        return None
    total = sum(float(n) * UNITS[unit] for n, unit in re.findall(r"(\d+(?:\.\d*)?)(ms|us|µs|ns|h|m|s)", text))
    return round(-total if text.startswith("-") else total)


def number(value):
    """Return a Python int or float as a Go literal."""
    if isinstance(value, float) and not math.isfinite(value):
        raise GoParameterError(f"{value} is no number that Go can write")
    return repr(value)


def literal(kind, value):
    """Return a value as a Go literal of a type, or raise GoParameterError."""
    element = kind.removeprefix("[]")
    if kind.startswith("[]") and isinstance(value, (list, tuple)):
        return kind + "{" + ", ".join(literal(element, v) for v in value) + "}"
    if kind == "string" and isinstance(value, str):
        return quote(value)
    if kind == "bool" and isinstance(value, bool):
        return "true" if value else "false"
    if kind == "bool" and value in ("true", "false"):
        return value  # papermill's -p knows Python's True and False alone
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if kind in FLOATS:
            return number(value)
        if float(value).is_integer():
            n = int(value)
            if kind in BITS and -(2 ** (BITS[kind] - 1)) <= n < 2 ** (BITS[kind] - 1):
                return str(n)
            if kind in UNSIGNED and 0 <= n < 2 ** UNSIGNED[kind]:
                return str(n)
    if kind == "time.Duration" and isinstance(value, str) and duration(value) is not None:
        return f"{duration(value)} // {value}"
    hint = "; -r passes text as it is written" if kind == "string" and value is not None else ""
    raise GoParameterError(f"its type is {kind}, and {value!r} is no {kind}{hint}")


def inferred(value):
    """Return a Python value as a Go literal of the type that Go infers."""
    if isinstance(value, bool):
        return literal("bool", value)
    if isinstance(value, str):
        return literal("string", value)
    if isinstance(value, int):
        return literal("int", value)
    if isinstance(value, float):
        text = number(value)
        return text if re.search(r"[.e]", text) else text + ".0"
    if isinstance(value, (list, tuple)):
        for kind, types in (("bool", bool), ("string", str), ("int", int), ("float64", (int, float))):
            if value and all(isinstance(v, types) and (kind == "bool" or not isinstance(v, bool)) for v in value):
                return literal("[]" + kind, value)
    raise GoParameterError(f"{value!r} has no Go form; give text, a number, true, false, or a list of one of these")


class GoTranslator(Translator):
    """papermill's translator for Go."""

    _last = threading.local()

    @classmethod
    def comment(cls, text):
        return f"// {text}".strip()

    @classmethod
    def translate(cls, value):
        return inferred(value)

    @classmethod
    def assign(cls, name, text):
        return f"var {name} = {text}"

    @classmethod
    def inspect(cls, parameters_cell):
        found = list(declarations(parameters_cell.get("source", "")))
        cls._last.types = {name: kind for name, kind, _, _ in found}
        return [Parameter(name, kind or "None", value, help) for name, kind, value, help in found]

    @classmethod
    def codify(cls, parameters, comment="Parameters"):
        types, cls._last.types = getattr(cls._last, "types", {}), {}
        lines = [cls.comment(comment)]
        for name, value in parameters.items():
            if not re.fullmatch(r"[^\W\d]\w*", name) or name in KEYWORDS:
                raise GoParameterError(f"parameter {name!r}: the name is no Go identifier")
            kind = types.get(name, "")
            try:
                known = kind.removeprefix("[]") in BASIC or kind == "time.Duration"
                lines.append(
                    f"var {name} {kind} = {literal(kind, value)}" if known else cls.assign(name, inferred(value))
                )
            except GoParameterError as e:
                raise GoParameterError(f"parameter {name}: {e}") from None
        return "\n".join(lines) + "\n"


papermill_translators.register("antipode", GoTranslator)
papermill_translators.register("go", GoTranslator)
