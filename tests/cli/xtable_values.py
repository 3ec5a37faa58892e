# SPDX-License-Identifier: MIT
"""Random columns of the types of tables: their values, fields, literals and aggregates.

None is NULL.  A text is str, with surrogates for bytes that are not UTF-8; a decimal is a Fraction.
"""
import datetime
import math
import struct
from decimal import Decimal
from fractions import Fraction

EPOCH = datetime.datetime(1970, 1, 1)
TEXTS = ("word", "letters", "text", "mixed", "named", "chars", "dict8", "dict16", "quoted")
REALS = ("real", "binary", "f32", "f64")
NUMBERS = ("binary", "integer", "unsigned", "decimal", "real", "whole", "f32", "f64", "dec")
INFERRED = ["integer", "integer", "unsigned", "decimal", "real", "date", "time", "word", "letters",
            "text", "mixed"]
NAMED = ["whole", "whole", "named", "f32", "f64", "dec", "chars", "dict8", "dict16", "quoted"]


def narrow(v):
    """The nearest f32."""
    try:
        return struct.unpack("<f", struct.pack("<f", v))[0]
    except OverflowError:
        return math.copysign(math.inf, v)


def shortest(v, single):
    """The fewest digits that give the number back, as repr() of f64 has them."""
    if not single:
        return repr(v)
    return next(t for n in range(9) for t in [f"{v:.{n}e}"] if narrow(float(t)) == v)


def number(v, single=False):
    """The fewest digits that give the number back, in the form of %g."""
    if math.isnan(v) or math.isinf(v):
        return f"{v:g}"
    sign, digits, exponent = Decimal(shortest(v, single)).as_tuple()
    text = "".join(map(str, digits)).rstrip("0") or "0"
    point = len(digits) + exponent  # digits before the point
    minus = "-" if sign else ""
    if v == 0:
        return minus + "0"
    if point > (9 if single else 17) or point < -3:
        rest = "." + text[1:] if text[1:] else ""
        return f"{minus}{text[0]}{rest}e{'+' if point > 0 else '-'}{abs(point - 1):02}"
    if point <= 0:
        return f"{minus}0.{'0' * -point}{text}"
    text = text.ljust(point, "0")
    return minus + text[:point] + ("." + text[point:] if text[point:] else "")


def fixed(value, places):
    """A fraction with so many decimals, half away from 0."""
    digits = math.floor(abs(value) * 10 ** places + Fraction(1, 2))
    whole, part = divmod(digits, 10 ** places)
    sign = "-" if value < 0 and digits else ""
    return f"{sign}{whole}.{part:0{places}}" if places else f"{sign}{whole}"


class Column:
    """A column: its name, its type if that is named, and a value for each record."""

    def __init__(self, r, number_of, n, kinds, last):
        self.name = f"c{number_of + 1}"
        self.kind = r.choice(kinds)
        self.type = None
        self.places = 0
        self.spelled = {}  # fields of values
        nulls = r.choice([0, 0, 0.1, 0.5])
        make = getattr(self, self.kind)(r)
        self.values = [None if r.random() < nulls else make() for _ in range(n)]
        if n and last and self.values[0] is None:  # or the separators before it would be trailing
            self.values[0] = make()

    # Kinds whose type is inferred.

    def integer(self, r):
        bits = r.choice([4, 7, 8, 12, 16, 20, 32, 40, 62])
        low = r.choice([0, -(1 << bits) + 2])
        return lambda: r.randint(low, (1 << bits) - 2)

    def unsigned(self, r):
        return lambda: r.randint(0, (1 << 64) - 2)

    def decimal(self, r):
        self.places = r.choice([1, 2, 2, 4, 9])
        high = 10 ** r.choice([2, 4, 8, 14])
        return lambda: Fraction(r.randint(-high, high), 10 ** self.places)

    def real(self, r):
        self.type = "f64"  # values without decimals would be integers
        return lambda: r.choice([r.random(), r.gauss(0, 1e30), r.gauss(0, 1e-300),
                                 float(r.randint(0, 99)), 1.5e300])

    def binary(self, r):
        """Numbers of few binary digits: SQLite does not round decimals right."""
        self.type = "f64"
        return lambda: r.randint(-(1 << 20), 1 << 20) / 1024

    def date(self, r):
        edges = [datetime.date(1, 1, 1), datetime.date(9999, 12, 31), datetime.date(1969, 12, 31),
                 datetime.date(1970, 1, 1)]
        return lambda: r.choice(edges) if r.random() < 0.02 else \
            EPOCH.date() + datetime.timedelta(r.randint(-20000, 40000))

    def time(self, r):
        self.places = r.choice([0, 3, 6])
        unit = 10 ** (6 - self.places)
        return lambda: EPOCH + datetime.timedelta(
            microseconds=r.randint(-10 ** 15, 4 * 10 ** 15) // unit * unit)

    def word(self, r):
        words = ["".join(r.choices("abcdefgh -", k=r.randint(1, 12))) for _ in range(9)]
        return lambda: r.choice(words)

    def letters(self, r):
        size = r.randint(1, 30)
        return lambda: "".join(r.choices("abcdefghijklmnop", k=size))

    def text(self, r):
        size = r.choice([3, 40, 400])
        return lambda: "".join(r.choices("abc ABC0129-.'", k=r.randint(1, size)))

    def mixed(self, r):
        return lambda: r.choice(["007", "1.50", "1.5", "-0", "+1", "0x1", "1e5", "2026-02-30", "x"])

    # Kinds whose type is named, with the values at its ends.

    def whole(self, r):
        bits = r.choice([8, 16, 32, 64])
        self.type = r.choice("iu") + str(bits)
        low, high = (0, (1 << bits) - 2) if self.type[0] == "u" else \
            (1 - (1 << bits - 1), (1 << bits - 1) - 1)
        near = r.random() < 0.5
        return lambda: r.choice([low, low + 1, high, high - 1, 0, 1]) if r.random() < 0.1 else \
            r.randint(max(low, -9), min(high, 9)) if near else r.randint(low, high)

    def dec(self, r):
        bits = r.choice([8, 16, 32, 64])
        self.places = r.choice([0, 1, 2, 5, 18])
        self.type = f"dec{bits}({self.places})"
        high = (1 << bits - 1) - 1
        return lambda: Fraction(r.choice([-high, high, 0, 1, -1]) if r.random() < 0.1 else
                                r.randint(-high, high), 10 ** self.places)

    def f32(self, r):
        self.type = "f32"
        return lambda: narrow(r.choice([
            math.nan, -0.0, 0.0, math.inf, -math.inf, 1e-45, -1e-40, 3.4028234663852886e38,
            r.random(), r.gauss(0, 1e10), float(r.randint(-9, 9)), 16777216.0]))

    def f64(self, r):
        self.type = "f64"
        return lambda: r.choice([
            math.nan, -0.0, 0.0, math.inf, -math.inf, 5e-324, 1.7976931348623157e308, r.random(),
            -r.random(), r.gauss(0, 1e200), float(r.randint(-9, 9)), 9007199254740993.0])

    def named(self, r):
        self.type = "text"
        return self.text(r)

    def chars(self, r):
        size = r.choice([1, 4, 8, 9, 40])
        self.type = f"char({size})"
        return lambda: \
            "".join(r.choices("ab z\u007f\0", k=r.randint(0, size - 1))) + r.choice("abz")

    def dict8(self, r):
        self.type = "dict8"
        words = [f"{'w' * r.randint(1, 9)}{i}" for i in range(r.choice([1, 254, 255]))]
        return lambda: r.choice(words)

    def dict16(self, r):
        self.type = "dict16"
        return lambda: f"word {int(r.paretovariate(0.4)) % 60000}"

    def quoted(self, r):
        """Texts that need quotes, or are empty; in lines they are others (Table.settle())."""
        self.type = r.choice(["text", "char(60)", "dict16"])
        parts = ["a", "b", '"', ",", "\n", "\r", "\r\n", " ", "'", "\u00e9"]
        return lambda: "".join(r.choices(parts, k=r.randint(0, 20)))

    def show(self, v):
        if v is None:
            return ""
        if self.kind in ("decimal", "dec"):
            return fixed(v, self.places)
        if self.kind in REALS:
            return number(v, self.kind == "f32")
        if self.kind == "date":
            return v.isoformat()
        if self.kind == "time":
            part = f"{v.microsecond:06}"[:self.places]
            return v.isoformat(" ", "seconds") + ("." + part if part else "")
        return str(v)

    def literal(self, v):
        if self.kind in NUMBERS:
            return self.show(v)
        return "'" + self.show(v).replace("'", "''") + "'"

    def order(self, v):
        """What values are ordered by: texts by bytes, NaN behind all numbers."""
        if isinstance(v, str):
            return v.encode()
        if isinstance(v, datetime.date) and not isinstance(v, datetime.datetime):
            return datetime.datetime.combine(v, datetime.time())
        if isinstance(v, float):
            return (True, 0.0) if math.isnan(v) else (False, v)
        return (False, v) if self.kind in NUMBERS else v

    def end(self, pick, values):
        """The least or greatest value; -0 is 0."""
        v = pick(values, key=self.order)
        return v + 0.0 if isinstance(v, float) else v

    def total(self, values, n):
        """The exact sum of floats, divided by n."""
        if any(map(math.isnan, values)) or (math.inf in values and -math.inf in values):
            return math.nan
        if any(map(math.isinf, values)):
            return math.inf if math.inf in values else -math.inf
        exact = sum(map(Fraction, values)) / n
        try:
            return exact.numerator / exact.denominator
        except OverflowError:
            return math.inf if exact > 0 else -math.inf

    def aggregate(self, function, rows):
        """The text of an aggregate of some records."""
        values = [self.values[i] for i in rows if self.values[i] is not None]
        if function == "count":
            return str(len(values))
        if not values:
            return ""
        if function in ("min", "max"):
            return self.show(self.end(min if function == "min" else max, values))
        n = len(values) if function == "avg" else 1
        if self.kind in REALS:
            return number(self.total(values, n))
        return fixed(Fraction(sum(values)) / n, self.places + (6 if function == "avg" else 0))

    def functions(self):
        sums = ["sum", "avg"] if self.kind in NUMBERS and self.known() else []
        return ["count", "min", "max"] + sums

    def sayable(self):
        """The values that an argument can have: not NULL, and without a zero byte."""
        return [v for v in self.values if v is not None and "\0" not in str(v)]

    def known(self):
        """True if the type is known: a column without values is one of texts."""
        return self.type or any(v is not None for v in self.values)
