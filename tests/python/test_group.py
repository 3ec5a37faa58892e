# SPDX-License-Identifier: MIT
"""spindle_io.group(), compared with dictionaries of Python."""

import csv
import io
import json
import os
import pickle
import random
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
                row = [key, str(len(ns)), total(xs), str(min(ns)), str(max(ns)), xs[-1] if xs else ""]
                if len(ns) > 1:
                    want.append([*row, str(len(set(ns)))])
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

    def test_formats(self):
        sp.group(self.file("a", "x y\0x z\0"), self.out, keys=1, zero_terminated=True)
        self.assertEqual(self.out.read_bytes(), b"x 2\0")
        sp.group(self.file("a", "a;b\n1;2\n1;3\n"), self.out, **NAMED, separator=";", keys="a")
        self.assertEqual(self.out.read_text(), "a;count()\n1;2\n")
        sp.group(self.out, self.out, **NAMED, separator=";", format="json", agg="max(a)")
        self.assertEqual(json.loads(self.out.read_text()), {"max(a)": 1})
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
        for foreign in "bkey", "seed", "ignore_case", "record_size", "unique":
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
