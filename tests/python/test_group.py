# SPDX-License-Identifier: MIT
"""spindle_io.group(), compared with dictionaries of Python."""

import csv
import io
import json
import os
import pickle
import random
import struct
import tempfile
import unittest
from decimal import Decimal
from pathlib import Path

import spindle_io as sp
import tap

NAMED = dict(csv=True, header=True)
WORDS = ["", "a", "B", "north", "c, d", 'say "x"', "two\nlines", "\u00e9t\u00e9", "1", "01"]


def text_of(rows):
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def random_rows(rng):
    """Records of a key, a small number, and a number with decimal places or no value."""
    words = rng.sample(WORDS, rng.randint(1, len(WORDS)))
    return [
        (
            rng.choice(words),
            str(rng.randint(0, 9)),
            rng.choice(["", f"{rng.uniform(-99, 99):.{rng.randint(0, 4)}f}"]),
        )
        for _ in range(rng.choice([0, 1, 10, 1000, 20000]))
    ]


def total(values):
    """The exact sum of texts; "" without a value."""
    if not values:
        return ""
    places = max(-Decimal(v).as_tuple().exponent for v in values)
    return f"{sum(map(Decimal, values)) + 0:.{places}f}"  # + 0: not -0


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.out = self.folder / "out"

    def file(self, name, text):
        path = self.folder / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def rows(self):
        return list(csv.reader(io.StringIO(self.out.read_bytes().decode(), newline="")))


class Groups(Folder):
    def test_random_records_have_the_totals_of_a_dictionary(self):
        for seed in range(40):
            rng = random.Random(seed)
            rows = random_rows(rng)
            cut = rng.randint(0, len(rows))
            files = [
                self.file(f"{i}.csv", text_of([("key", "n", "x"), *part]))
                for i, part in enumerate((rows[:cut], rows[cut:]))
            ]
            groups = {}
            for key, n, x in rows:
                if int(n) > 2:
                    groups.setdefault(key, []).append((int(n), x))
            want = []
            for key in sorted(groups, key=str.encode):
                xs = [x for _, x in groups[key] if x]
                ns = [n for n, _ in groups[key]]
                row = [key, len(ns), total(xs), min(ns), max(ns), xs[-1] if xs else ""]
                if len(ns) > 1:
                    want.append([*map(str, row), str(len(set(ns)))])
            report = sp.group(
                files, self.out, **NAMED, keys="key", where="n > 2", having="$2 > 1",
                agg=["count(), sum(x) as total", "min(n), max(n), last(x), distinct(n)"],
                memory=rng.choice(["1M", 64 << 20]), parallel=rng.choice([1, 3]),
                temporary_directory=self.folder,
            )  # fmt: skip
            with self.subTest(seed):
                names = "key,count(),total,min(n),max(n),last(x),distinct(n)".split(",")
                self.assertEqual(self.rows(), [names, *want])
                self.assertEqual(report["schema"], "spindle.group/1")
                self.assertEqual(report["result"]["records"], len(rows))
                self.assertEqual(report["result"]["groups"], len(groups))
                kept = sum(map(len, groups.values()))
                self.assertEqual(report["result"]["filtered"], len(rows) - kept)

    def test_keywords_are_options(self):
        a = self.file("a", "b|2|z\nA|10|y\nb|3|\na|1|x\n")
        for keywords, args, want in (
            (dict(keys=1, agg="sum(2)"), "-k1 -a 'sum(2)'", "A|10\na|1\nb|5\n"),
            (dict(keys=["1:f"], agg=["count()"]), "-k 1:f", "A|2\nb|2\n"),
            (dict(keys="1", order="first", limit=2), "-k1 --order=first --limit=2", "b|2\nA|1\n"),
            (dict(keys=1, largest=1, by="2nr"), "-k1 --largest=1 -k2nr", "A|10|y\na|1|x\nb|3|\n"),
            (dict(keys=1, largest=1), "-k1 --largest=1", "A|10|y\na|1|x\nb|2|z\n"),
            (dict(agg="sum(2)", format="json"), "-a 'sum(2)' --format=json", '{"sum(2)":16}\n'),
            (
                dict(keys=1, pivot=2),
                "-k1 --pivot=2",
                "1|1|10|2|3\nA|0|1|0|0\na|1|0|0|0\nb|0|0|1|1\n",
            ),
            (
                dict(keys=1, percent=True, cumulative=["count() as n", "percent(count())"]),
                "-k1 --percent '--cumulative=count() as n' '--cumulative=percent(count())'",
                "A|1|25.000000|1|25.000000\na|1|25.000000|2|50.000000\n"
                "b|2|50.000000|4|100.000000\n",
            ),
            (dict(agg="count(3)", null="y"), "-a 'count(3)' --null=y", "2\n"),
            (
                dict(agg="sum(1)", skip_invalid=True, having="$1 is null"),
                "-a 'sum(1)' --skip-invalid --having '$1 is null'",
                "\n",
            ),
        ):
            with self.subTest(args):
                sp.group(a, self.out, separator="|", **keywords)
                self.assertEqual(self.out.read_text(), want)
                sp.group_file(a, self.out, f"-t'|' {args}")
                self.assertEqual(self.out.read_text(), want)

    def test_lines_of_json(self):
        a = self.file("a", '{"k":1,"n":2}\n{"k":"1","n":3}\n{"k":1.0,"n":4}\n')
        sp.group(a, self.out, json=True, keys=".k", agg="sum(.n) as n")
        self.assertEqual(self.out.read_text(), '{"k":1,"n":6}\n{"k":"1","n":3}\n')
        sp.group(a, self.out, json=True, keys=".k", agg="sum(.n) as n", format="csv")
        self.assertEqual(self.out.read_text(), "k,n\n1,6\n1,3\n")
        for keywords in (dict(csv=True), dict(header=True), dict(format="text"), dict(keys="k")):
            with self.subTest(keywords), self.assertRaises(ValueError):
                sp.group(a, self.out, json=True, **keywords)

    def test_records_of_a_fixed_length(self):
        records = [struct.pack("<Hd", i % 3, i / 4) for i in range(40)]
        a = self.file("a", b"".join(records))
        options = dict(record_size=10, keys="0:2:u16:r", agg="sum(2:8:f64) as sum")
        sp.group(a, self.out, **options)
        want = "0:2:u16,sum\n" + "".join(
            f"{k},{sum(range(k, 40, 3)) / 4:.2f}\n" for k in reversed(range(3))
        )
        self.assertEqual(self.out.read_text(), want)
        halves = []
        for n, half in enumerate((records[:21], records[21:])):
            halves.append(self.folder / f"half{n}")
            piece = self.file("piece", b"".join(half))
            sp.group_first(piece, halves[-1], sp.GroupOptions(**options), 210 * n)
        sp.group_second(halves, self.out, sp.GroupOptions(**options))
        self.assertEqual(self.out.read_text(), want)
        sp.group(a, self.out, record_size=10, keys="0:2:u16", largest=1, by="2:8:f64:r")
        self.assertEqual(self.out.read_bytes(), b"".join([records[39], records[37], records[38]]))
        for keywords in (dict(csv=True), dict(header=True), dict(format="text"), dict(keys="1")):
            with self.subTest(keywords), self.assertRaises(ValueError):
                sp.group(a, self.out, **{**options, **keywords})

    def test_formats(self):
        sp.group(self.file("a", "x y\0x z\0"), self.out, keys=1, zero_terminated=True)
        self.assertEqual(self.out.read_bytes(), b"x 2\0")
        sp.group(self.file("a", "a;b\n1;2\n1;3\n"), self.out, **NAMED, separator=";", keys="a")
        self.assertEqual(self.out.read_text(), "a;count()\n1;2\n")
        sp.group(self.out, self.out, **NAMED, separator=";", format="json", agg="max(a)")
        self.assertEqual(json.loads(self.out.read_text()), {"max(a)": 1})
        blank = self.file("a", "x|1\n\ny|2\n")  # no record, as with xgroup
        sp.group(blank, self.out, keys=1, separator="|")
        self.assertEqual(self.out.read_text(), "x|1\ny|1\n")
        sp.group(self.file("a", "x\n\n"), self.out, keys=1, separator="|")  # one column
        self.assertEqual(self.out.read_text(), "|1\nx|1\n")
        sp.group(self.file("a", "a\tb\na\tc\n"), self.out, keys=1, separator="\t")
        self.assertEqual(self.out.read_text(), "a\t2\n")

    def test_an_empty_input(self):
        empty = self.file("empty", "")
        for keywords, want in (
            (dict(NAMED, keys="key", where="x > 1", agg="sum(x)"), "key,sum(x)\n"),
            (dict(NAMED), "count()\n0\n"),
            (dict(keys=1), ""),
            (dict(agg="sum(1)", separator=","), "\n"),
        ):
            with self.subTest(keywords):
                report = sp.group(empty, self.out, **keywords)
                self.assertEqual(self.out.read_text(), want)
                self.assertEqual(report["result"]["records"], 0)

    def test_the_output_can_be_an_input(self):
        a = self.file("a", "k,n\nx,1\ny,2\nx,3\n")
        sp.group([a, a], a, **NAMED, keys="k", agg="sum(n) as n")
        self.assertEqual(a.read_text(), "k,n\nx,8\ny,4\n")
        sp.group(str(a), os.fsencode(a), **NAMED, keys="k", agg="sum(n) as n")
        self.assertEqual(a.read_text(), "k,n\nx,8\ny,4\n")

    def test_options_can_be_sent(self):
        o = pickle.loads(pickle.dumps(sp.GroupOptions("-k1", separator=",", agg="max(2)")))
        for _ in range(2):
            sp.group_file(self.file("a", "x,1\nx,3\n"), self.out, o)
            self.assertEqual(self.out.read_text(), "x,3\n")


class TwoSteps(Folder):
    """Partial totals of pieces, cut by key, and combined range by range."""

    AGGREGATES = (
        "count(), sum(x), mean(x), min(x), max(key), first(x), last(n), distinct(x), median(x)",
        "p99.9(x), var(x), stddev(n), mode(n), list(x), corr(n, x), slope(n, x), sum(1 / (n + 1))",
        "count(x) as c",
        "first(n), list(n)",
    )

    def in_two_steps(self, rng, header, records, options):
        """The result by pieces of the records and by ranges of keys."""
        cuts = sorted(rng.randint(0, len(records)) for _ in range(rng.randint(0, 6)))
        partials, position = [], 10**6
        for a, b in zip([0, *cuts], [*cuts, len(records)]):
            data = "".join(records[a:b]).encode()
            piece = self.file("piece", header + data)
            report = sp.group_first(piece, self.out, options, position)
            self.assertEqual(report["result"]["records"], b - a)
            partials.append(self.out.read_bytes().split(b"\0")[:-1])
            self.assertEqual(partials[-1], sorted(partials[-1]))
            position += len(data)
        nkeys = sum(arg.startswith("--key") for arg in options.args[: self.keys])

        def key(record):
            parts = record.split(b"\1")[:nkeys]
            return b"".join(part + b"\1" for part in parts)

        keys = sorted({key(r) for p in partials for r in p})
        borders = sorted(rng.sample(keys, min(len(keys), rng.randint(0, 5) if nkeys else 0)))
        result, groups = b"", 0
        for lo, hi in zip([b"", *borders], [*borders, b"\xff" * 9]):
            files = [
                self.file(f"{i}", b"".join(r + b"\0" for r in p if lo <= r < hi))
                for i, p in enumerate(partials)
            ]
            rng.shuffle(files)
            report = sp.group_second(
                files, self.out, options, header=header, rows_only=bool(result)
            )
            result += self.out.read_bytes()
            groups += report["result"]["records"]
        self.assertEqual(groups, len(records) - self.left_out(header, records, options))
        return result

    def left_out(self, header, records, options):
        report = sp.group_file(self.whole(header, records), self.out, options)["result"]
        return report["skipped"] + report["filtered"]

    def whole(self, header, records):
        return self.file("whole", header + "".join(records).encode())

    def test_the_result_is_that_of_one_step(self):
        for seed in range(60):
            rng = random.Random(seed)
            rows = random_rows(rng)[: rng.choice([0, 5, 300, 3000])]
            if rng.random() < 0.3:
                rows = [(k, n, x and rng.choice([x, "1e-12", "2.5E30", "nix"])) for k, n, x in rows]
            records = [text_of([row]) for row in rows]
            keywords = dict(NAMED, skip_invalid=True, memory="2M")
            keywords["keys"] = rng.choice(
                [[], ["key"], ["key:f"], ["n:nr", "key"], ["n % 3 as m:r"], ["key:r", "n"]]
            )
            if rng.random() < 0.2:
                keywords.update(largest=rng.randint(1, 3), by=rng.choice([[], ["n:nr"], ["x"]]))
            else:
                keywords["agg"] = rng.choice(self.AGGREGATES)
                keywords["having"] = rng.choice([None, "$1 is not null"])
                keywords["format"] = rng.choice([None, "json"])
            keywords["where"] = rng.choice([None, "n > 3 or key ^= 'n'"])
            self.keys = len(keywords["keys"])
            options, header = sp.GroupOptions(**keywords), b"key,n,x\n"
            with self.subTest(seed=seed, **keywords):
                sp.group_file(self.whole(header, records), self.out, options)
                want = self.out.read_bytes()
                self.assertEqual(self.in_two_steps(rng, header, records, options), want)

    def test_damaged_partial_totals_are_no_crash(self):
        rng = random.Random(1)
        rows = random_rows(random.Random(3))[:200]
        whole = self.file("whole", text_of([("key", "n", "x"), *rows]))
        options = sp.GroupOptions(**NAMED, keys="key", agg=", ".join(self.AGGREGATES[:2]))
        sp.group_first(whole, self.out, options)
        good, refused = self.out.read_bytes(), 0
        for _ in range(300):
            bad = bytearray(good)
            at = rng.randrange(len(bad))
            if rng.random() < 0.2:
                del bad[at:]
            bad[at : at + 1] = rng.randbytes(1) * rng.choice([0, 1, 2])
            try:
                file = self.file("bad", bytes(bad))
                sp.group_second(file, self.out, options, header=b"key,n,x\n")
            except sp.SpindleError:
                refused += 1
        self.assertGreater(refused, 30)

    def test_what_two_steps_refuse(self):
        a = self.file("a", "1\n")
        for order in "first", "count():r":
            with self.assertRaisesRegex(ValueError, "rows of two steps have the order of the keys"):
                sp.group_first(a, self.out, sp.GroupOptions(keys=1, order=order))
        for keywords in dict(pivot=1), dict(percent=True), dict(cumulative="count()"):
            with self.assertRaisesRegex(ValueError, "rows of two steps have the order of the keys"):
                sp.group_second(a, self.out, sp.GroupOptions(keys=1, **keywords), header=b"")
        with self.assertRaisesRegex(sp.SpindleError, "damaged|corrupt|differs"):
            sp.group_second(self.file("b", "no partial totals"), self.out, sp.GroupOptions(keys=1))
        with self.assertRaisesRegex(ValueError, "no column has the name 'x'"):
            sp.group_second(a, self.out, "--csv --header -k x", header=b"y,z\n")
        self.assertFalse(self.out.exists())


class Refused(Folder):
    """Nothing is written, and the message names what is wrong."""

    def refused(self, kind, reason, path=None, **keywords):
        path = path or self.file("a", "name,n\nb,2\na,x\n")
        with self.subTest(keywords), self.assertRaisesRegex(kind, reason):
            sp.group(path, self.out, **keywords)
        self.assertFalse(self.out.exists())

    def test_wrong_options(self):
        for keywords, reason in (
            (dict(NAMED, agg="su(n)"), "no function 'su' \\(the nearest is 'sum'\\)"),
            (dict(NAMED, agg="sum(n"), "'\\)' is expected"),
            (dict(NAMED, agg=["sum(n)", "3"]), "no function '3'"),
            (dict(NAMED, keys="nam"), "no column has the name 'nam'; the nearest one is 'name'"),
            (dict(NAMED, agg="max(m)"), "no column has the name 'm'"),
            (dict(NAMED, keys=9), "the header has only 2 columns '9'"),
            (dict(keys=0), "columns count from 1"),
            (dict(NAMED, where="n >"), "missing at the end of 'n >'"),
            (dict(NAMED, where="n > 5 n"), "is expected instead of 'n'"),
            (dict(NAMED, having="q > 1"), "no column 'q'"),
            (dict(NAMED, order="q"), "no column 'q'"),
            (dict(NAMED, largest=1, agg="count()"), "exclude each other"),
            (dict(NAMED, largest=1, format="json"), "exclude each other"),
            (dict(by="n"), "it needs largest"),
            (dict(largest=0), "invalid number '0'"),
            (dict(limit=-1), "invalid number '-1'"),
            (dict(format="xml"), "invalid --format argument"),
            (dict(header=2), "takes no argument: '--header=2'"),
            (dict(memory="x"), "invalid -S argument 'x'"),
            (dict(csv=True, zero_terminated=True), "'--csv' and '-z' are incompatible"),
            (dict(csv=True, separator='"'), "cannot separate the fields of CSV"),
            (dict(csv=True, separator="\\0"), "cannot separate the fields of CSV"),
            (dict(separator="\n"), "the separator ends a line"),
            (dict(separator="ab"), "multi-character tab"),
            (dict(separator=""), "empty tab"),
        ):
            self.refused(ValueError, reason, **keywords)
        with self.assertRaisesRegex(ValueError, "given twice"):
            sp.GroupOptions("-a 'count()'", agg="sum(1)")
        with self.assertRaisesRegex(ValueError, "did you mean '--largest'"):
            sp.GroupOptions("--larges_t=2")

    def test_unknown_keywords(self):
        for wrong, near in dict(key="keys", aggs="agg", skipinvalid="skip_invalid").items():
            self.refused(TypeError, f"'{wrong}': did you mean '{near}'", **{wrong: "1"})
        for foreign in "bkey", "seed", "ignore_case", "unique":
            self.refused(TypeError, f"unexpected keyword argument '{foreign}'", **{foreign: "1"})

    def test_wrong_data(self):
        for keywords, reason in (
            (dict(NAMED, agg="sum(n)"), "a: line 3: sum\\(n\\): 'x' is not a number"),
            (dict(NAMED, where="n > 1"), "a: line 3: --where: 'x' is not a number"),
            (dict(NAMED, keys="year(name)"), "a: line 2: year\\(name\\): 'b' is not a date"),
        ):
            self.refused(sp.SpindleError, reason, **keywords)
        other = self.file("other", "name,m\n")
        self.refused(sp.SpindleError, "header", [self.file("a", "name,n\n"), other], **NAMED)
        self.refused(sp.SpindleError, "none: No such file", self.folder / "none", keys=1)
        self.refused(sp.SpindleError, "", self.file("b", 'k\n"a\n'), csv=True, keys=1)
        with self.assertRaises(sp.SpindleError) as wrong:
            sp.group(self.file("a", "n\nx\n"), self.out, **NAMED, agg="sum(n)")
        self.assertEqual(wrong.exception.path, str(self.folder / "a"))

    def test_an_old_output_stays(self):
        self.out.write_text("old")
        with self.assertRaises(sp.SpindleError):
            sp.group(self.file("a", "x\n"), self.out, agg="sum(1)")
        self.assertEqual(self.out.read_text(), "old")
        with self.assertRaises(sp.SpindleError):
            sp.group(self.folder / "a", self.folder / "no" / "out", keys=1)


if __name__ == "__main__":
    unittest.main(testRunner=tap.Runner)
