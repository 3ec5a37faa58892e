# SPDX-License-Identifier: MIT
"""Random predicates: a text for xtable, and a function of a record number that returns True, False,
or None for neither."""
from fractions import Fraction
from xtable_values import NUMBERS, REALS, TEXTS, fixed

COMPARE = {"=": lambda a, b: a == b, "!=": lambda a, b: a != b, "<": lambda a, b: a < b,
           "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b}
SWAPPED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def neither(a):
    return None if a is None else not a


def both(a, b):
    return False if a is False or b is False else None if a is None or b is None else True


def either(a, b):
    return True if a or b else None if a is None or b is None else False


def compared(c, op, v):
    def truth(i):
        if c.values[i] is None:
            return None
        return COMPARE[op](c.order(c.values[i]), c.order(v))
    return truth


def beyond(r, c, v):
    """A literal beside or beyond the values of a column of exact numbers, and its value."""
    if c.kind not in ("integer", "unsigned", "decimal", "whole", "dec"):
        return c.literal(v), v
    v = r.choice([v + Fraction(1, 3 * 10 ** 6), v - Fraction(1, 10 ** 9), v + 10 ** 30,
                  v - 10 ** 30])
    text = fixed(v, 12)
    return text, Fraction(text)


def pair(r, t, c):
    """A comparison of two columns of numbers, texts, or dates and times."""
    def family(x):
        return 0 if x.kind in NUMBERS else 1 if x.kind in TEXTS else 2
    d = r.choice([x for x in t.columns if family(x) == family(c) and x.known()])
    op = r.choice(list(COMPARE))

    def truth(i):
        a, b = c.values[i], d.values[i]
        return None if a is None or b is None else COMPARE[op](c.order(a), d.order(b))
    return f'"{c.name}" {op} "{d.name}"', truth


def chain(r, c, known):
    """A column between two literals."""
    low, high = r.choice(known), r.choice(known)
    a, b = r.choice(["<", "<=", "!="]), r.choice(["<", "<=", ">="])
    first, second = compared(c, SWAPPED[a], low), compared(c, b, high)
    return f'{c.literal(low)} {a} "{c.name}" {b} {c.literal(high)}', \
        lambda i: both(first(i), second(i))


def listed(r, c, known):
    some = [r.choice(known) for _ in range(r.choice([1, 3, 20]))]
    text = ", ".join(c.literal(s) for s in some)
    keys = [c.order(s) for s in some]
    word = r.choice(["in", "not in"])

    def truth(i):
        found = None if c.values[i] is None else c.order(c.values[i]) in keys
        return found if word == "in" else neither(found)
    return f'"{c.name}" {word} ({text})', truth


def comparison(r, t):
    c = r.choice(t.columns)
    known = c.sayable()
    op = r.choice(list(COMPARE))
    name = f'"{c.name}"'
    kind = r.random() if known else 0
    if t.plain and kind >= 0.35:
        kind = r.choice([0.5, 0.9])
    if kind < 0.1:
        return f"{name} is null", lambda i: c.values[i] is None
    if kind < 0.2:
        return f"{name} is not null", lambda i: c.values[i] is not None
    if kind < 0.35:
        return listed(r, c, known)
    if kind < 0.45:
        return chain(r, c, known)
    if kind < 0.55 and c.known():
        return pair(r, t, c)
    v = r.choice(known)
    if kind < 0.65 and c.kind in TEXTS:
        start = v[:r.randint(0, len(v))]
        return f"{name} ^= {c.literal(start)}", lambda i: \
            None if c.values[i] is None else c.values[i].startswith(start)
    text, v = beyond(r, c, v) if kind < 0.75 else (c.literal(v), v)
    if r.random() < 0.3:
        return f"{text} {SWAPPED[op]} {name}", compared(c, op, v)
    return f"{name} {op} {text}", compared(c, op, v)


def predicate(r, t, depth=2):
    if depth == 0 or r.random() < 0.4:
        return comparison(r, t)
    a, fa = predicate(r, t, depth - 1)
    b, fb = predicate(r, t, depth - 1)
    kind = r.choice(["and", "or", "not"])
    if kind == "not":
        return f"not ({a})", lambda i: neither(fa(i))
    if kind == "and":
        return f"({a}) and ({b})", lambda i: both(fa(i), fb(i))
    return f"({a}) or ({b})", lambda i: either(fa(i), fb(i))


def interval(r, c):
    """The text of a predicate that is a range of a column."""
    values = c.sayable()

    def bound():
        text = c.literal(r.choice(values))
        if c.kind in TEXTS and text.count("'") == 2 and r.random() < 0.3:
            text = text[:r.randint(1, len(text) - 1)] + "'"
        if c.kind in ("decimal", "dec") + REALS and r.random() < 0.2:
            text = r.choice(["0", "-0", "1e999", "-1e999", "0.005", "-7"])
        return text
    name = f'"{c.name}"'
    if c.kind in TEXTS and r.random() < 0.3:
        return f"{name} ^= {bound()}"
    parts = [f"{name} {r.choice(['=', '<', '<=', '>', '>='])} {bound()}" for _ in range(2)]
    return " and ".join(parts[:r.randint(1, 2)])
