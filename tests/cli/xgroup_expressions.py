# SPDX-License-Identifier: MIT
"""Random expressions of xgroup, and their values by Python's integers, fractions and texts.

    make_condition(rng, columns, depth), make_number(...), make_text(...)

Each returns (text of the expression, function of a row).  columns are (reference, index, whether
all values are numbers or empty).  A row is a list of texts.  A value is None, a bool, a str or an
Amount.
"""
import math
import re
from decimal import Decimal
from fractions import Fraction

UNITS = 10**9
LIMIT = 10**27  # of exact units
DECIMAL = re.compile(r"[+-]?(\d+\.?\d{0,9}|\.\d{1,9})")
FLOAT = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


class Amount:
    """A number: exact in units of 10^-9, or an f64."""

    def __init__(self, units=0, places=0, real=None):
        self.units, self.places, self.real = units, places, real

    def f64(self):
        if self.real is not None:
            return self.real
        return float(self.units) / UNITS if self.units % UNITS else float(self.units // UNITS)

    def value(self):
        return Fraction(self.units, UNITS) if self.real is None else Fraction(self.real)

    def text(self):
        if self.real is None:
            digits = str(abs(self.units) // 10**(9 - self.places)).rjust(self.places + 1, "0")
            if self.places:
                digits = digits[:-self.places] + "." + digits[-self.places:]
            return ("-" if self.units < 0 else "") + digits
        if self.real == 0:
            return "0"
        if 1e-4 <= abs(self.real) < 1e17:
            text = format(Decimal(repr(self.real)), "f")
            return text[:-2] if text.endswith(".0") else text
        return repr(self.real)


def parse(text):
    text = text.strip(" \t")
    if DECIMAL.fullmatch(text):
        units = Fraction(text) * UNITS
        if abs(units) < LIMIT:
            return Amount(int(units), len(text.partition(".")[2]))
    return Amount(real=float(text)) if FLOAT.fullmatch(text) else None


def places_of(units):
    places = 9
    while places and units % 10 == 0:
        places, units = places - 1, units // 10
    return places


def exact(units, places):
    return Amount(units, places) if abs(units) < LIMIT else None


def real(x):
    return Amount(real=x) if math.isfinite(x) else None


def calculate(sign, a, b):
    a, b = as_number(a), as_number(b)
    if a is None or b is None:
        return None
    both = a.real is None and b.real is None
    places, result = max(a.places, b.places), None
    if sign in "/%" and b.value() == 0:
        return None
    if sign == "+":
        result = both and exact(a.units + b.units, places)
        return result or real(a.f64() + b.f64())
    if sign == "-":
        result = both and exact(a.units - b.units, places)
        return result or real(a.f64() - b.f64())
    if sign == "*":
        if both and a.units * b.units % UNITS == 0:
            units = a.units * b.units // UNITS
            result = exact(units, max(min(9, a.places + b.places), places_of(units)))
        return result or real(a.f64() * b.f64())
    if sign == "/":
        if both and a.units * UNITS % b.units == 0:
            units = a.units * UNITS // b.units
            result = exact(units, places_of(units))
        return result or real(a.f64() / b.f64())
    if both:
        rest = abs(a.units) % abs(b.units)
        return Amount(-rest if a.units < 0 else rest, places)
    return real(math.fmod(a.f64(), b.f64()))


def rounded(x, how):
    """Rounds a fraction to an integer."""
    if how == "floor":
        return math.floor(x)
    if how == "ceil":
        return math.ceil(x)
    return math.floor(abs(x) + Fraction(1, 2)) * (-1 if x < 0 else 1)


def round_amount(how, a, places):
    a = as_number(a)
    if a is None:
        return None
    step = Fraction(UNITS) / Fraction(10)**places
    if a.real is None:
        units = int(rounded(a.units / step, how) * step)
        return exact(units, max(places, 0)) or Amount(real=math.copysign(1e18, units))
    if places < 0:
        scale = float(10**-places)
        return Amount(real=rounded(Fraction(a.real / scale), how) * scale)
    if abs(a.real) >= 2.0**53:
        return a
    return Amount(int(rounded(Fraction(a.real * float(10**places)), how) * step), places)


def as_text(v):
    if v is None or isinstance(v, str):
        return v or None
    return v.text() if isinstance(v, Amount) else ("true" if v else "false")


def as_number(v):
    return parse(v) if isinstance(v, str) else v


def ordered(sign, order):
    return {"=": order == 0, "!=": order != 0, "<": order < 0, "<=": order <= 0, ">": order > 0,
            ">=": order >= 0}[sign]


def compare(sign, a, b, kind):
    """kind: number, text, or field: as numbers if both are."""
    if a is None or b is None:
        return None
    x, y = (as_number(a), as_number(b)) if kind != "text" else (None, None)
    if x is not None and y is not None:
        x, y = x.value(), y.value()
    else:
        x, y = as_text(a).encode(), as_text(b).encode()
    return ordered(sign, (x > y) - (x < y))


def like(text, pattern):
    parts, i = "", 0
    while i < len(pattern):
        c = pattern[i]
        if c == "\\" and i + 1 < len(pattern):
            i += 1
            parts += re.escape(pattern[i])
        else:
            parts += ".*" if c == "%" else "." if c == "_" else re.escape(c)
        i += 1
    return re.fullmatch(parts, text, re.DOTALL) is not None


def both(a, b, deciding):
    """and, or: deciding is False, True."""
    if a is deciding or b is deciding:
        return deciding
    return None if a is None or b is None else not deciding


def negated(v):
    return None if v is None else not v


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def a_field(rng, columns):
    name, i, _ = rng.choice(columns)
    return name, lambda row: row[i] or None


def make_number(rng, columns, depth):
    numeric = [c for c in columns if c[2]]
    if not depth or rng.random() < 0.2:
        if numeric and rng.random() < 0.7:
            name, i, _ = rng.choice(numeric)
            return name, lambda row: row[i] or None  # keeps its text until it is calculated with
        text = rng.choice(["0", "1", "2", "3", "0.5", "1.50", "100", "1e-10", "0.000000001", "7"])
        return text, lambda row: parse(text)
    what = rng.randrange(6)
    a, f = make_number(rng, columns, depth - 1)
    b, g = make_number(rng, columns, depth - 1)
    if what <= 1:
        sign = rng.choice("+-*/%")
        return f"({a} {sign} {b})", lambda row: calculate(sign, f(row), g(row))
    if what == 2:
        c, h = make_condition(rng, columns, depth - 1)
        return f"if({c}, {a}, {b})", lambda row: f(row) if h(row) else g(row)
    if what == 3:
        how = rng.choice(["round", "floor", "ceil"])
        places = rng.choice([0, 0, 2, 5, -1, -2]) if how == "round" else 0
        more = f", {places}" if how == "round" and rng.random() < 0.9 else ""
        places = places if more else 0
        return f"{how}({a}{more})", lambda row: round_amount(how, f(row), places)
    if what == 4:
        return (f"coalesce({a}, {b})",
                lambda row: f(row) if f(row) is not None else g(row))
    if rng.random() < 0.5:
        return f"-{a}", lambda row: negate(as_number(f(row)))
    t, h = make_text(rng, columns, depth - 1)
    return f"length({t})", lambda row: None if h(row) is None else parse(str(len(h(row))))


def negate(a):
    if a is None:
        return None
    return Amount(-a.units, a.places) if a.real is None else Amount(real=-a.real)


def make_text(rng, columns, depth):
    if not depth or rng.random() < 0.2:
        if rng.random() < 0.8:
            return a_field(rng, columns)
        text = rng.choice(["a", "x y", "it's", "\u00e9"])
        return quoted(text), lambda row: text
    a, f = make_text(rng, columns, depth - 1)
    what = rng.randrange(6)
    if what == 0:
        b, g = make_text(rng, columns, depth - 1)
        return f"({a} || {b})", lambda row: ((f(row) or "") + (g(row) or "")) or None
    if what == 1:
        upper = rng.random() < 0.5
        return (f"{'upper' if upper else 'lower'}({a})",
                lambda row: f(row) and re.sub("[a-zA-Z]+", lambda m: m.group().upper() if upper
                                              else m.group().lower(), f(row)))
    if what == 2:
        begin, n = rng.choice([-3, -1, 0, 1, 2, 5]), rng.choice([None, 0, 1, 2, 7])

        def cut(text):
            first = begin + len(text) + 1 if begin < 0 else begin
            end = len(text) + 1 if n is None else first + n
            return text[max(first, 1) - 1:max(end, 1) - 1] or None
        more = "" if n is None else f", {n}"
        return f"substr({a}, {begin}{more})", lambda row: f(row) and cut(f(row))
    if what == 3:
        old, new = rng.choice(["a", "o", "1", "zz"]), rng.choice(["", "b", "a", "\u00e9"])
        return (f"replace({a}, {quoted(old)}, {quoted(new)})",
                lambda row: f(row) and (f(row).replace(old, new) or None))
    if what == 4:
        return f"trim({a})", lambda row: f(row) and (f(row).strip(" \t\n\v\f\r") or None)
    c, h = make_condition(rng, columns, depth - 1)
    return f"if({c}, {a})", lambda row: f(row) if h(row) else None


def make_comparison(rng, columns, depth):
    what, sign = rng.randrange(7), rng.choice(["=", "!=", "<", "<=", ">", ">="])
    if what <= 1:
        a, f = make_number(rng, columns, depth)
        b, g = make_number(rng, columns, depth)
        a, b = f"number({a})", f"{b}"
        return f"{a} {sign} {b}", lambda row: compare(sign, f(row), g(row), "number")
    if what == 2:
        a, f = a_field(rng, columns)
        b, g = a_field(rng, columns)
        return f"{a} {sign} {b}", lambda row: compare(sign, f(row), g(row), "field")
    a, f = make_text(rng, columns, depth)
    word = rng.choice(["a", "b", "north", "1", "-1", "\u00e9t\u00e9"])
    if what == 3:
        return f"{a} {sign} {quoted(word)}", lambda row: compare(sign, f(row), word, "text")
    negative = rng.random() < 0.3
    if what == 4:
        pattern = rng.choice(["%", "_", "a%", "%o%", "%\\%", "_t_", "%1%", "%t%e%", "\\\\"])
        known = f"{a} {'not ' if negative else ''}like {quoted(pattern)}"
        return known, lambda row: None if f(row) is None else like(f(row), pattern) != negative
    if what == 5:
        words = [rng.choice(["a", "A", "north", "1", "01", "c, d"]) for _ in range(3)]
        known = f"{a} {'not ' if negative else ''}in ({', '.join(map(quoted, words))})"
        return known, lambda row: None if f(row) is None else (f(row) in words) != negative
    return (f"{a} is {'not ' if negative else ''}null", lambda row: (f(row) is None) != negative)


def make_condition(rng, columns, depth):
    if not depth or rng.random() < 0.3:
        return make_comparison(rng, columns, depth)
    a, f = make_condition(rng, columns, depth - 1)
    if rng.random() < 0.25:
        return f"not ({a})", lambda row: negated(f(row))
    b, g = make_condition(rng, columns, depth - 1)
    deciding = rng.random() < 0.5
    return (f"({a}) {'or' if deciding else 'and'} ({b})",
            lambda row: both(f(row), g(row), deciding))
