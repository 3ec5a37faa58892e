# SPDX-License-Identifier: MIT
"""The package spindle_io without Ray; only the standard library."""

import array
import contextlib
import copy
import datetime
import decimal
import errno
import importlib.util
import mmap
import os
import pickle
import random
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from unittest import mock

import spindle_io as sp
import tap
from spindle_io._lib import Views
from spindle_io.ray import cli, files


BUILD = os.environ.get("SP_BUILD") or Path(__file__).resolve().parents[2] / "build"
XTABLE = Path(BUILD) / "bin" / "xtable"


def lines(n: int, seed: int = 1) -> bytes:
    r = random.Random(seed)
    return b"".join(b"%d|%d\n" % (r.randrange(n // 2), r.randrange(99)) for _ in range(n))


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def file(self, name: str, data: bytes) -> Path:
        path = self.folder / name
        path.write_bytes(data)
        return path


class Owners(unittest.TestCase):
    """Objects that own memory of the library."""

    def test_they_cannot_be_copied(self):
        with sp.Merge([b"a\n", b"b\n"]) as merge, Views([b"a"]) as views:
            for o in merge, views:
                for attempt in copy.copy, copy.deepcopy, pickle.dumps:
                    with self.assertRaisesRegex(TypeError, f"a {type(o).__name__} cannot be"):
                        attempt(o)
            self.assertEqual(b"".join(merge), b"a\nb\n")

    def test_copies_of_options_own_their_memory(self):
        for o in sp.Options("-k1,1"), sp.JoinOptions("-j 1"):
            for again in copy.copy(o), copy.deepcopy(o):
                self.assertNotEqual(again._call.value, o._call.value)
                self.assertEqual(again.args, o.args)
                del again


class Keywords(Folder):
    def test_keywords_of_a_sort_are_its_options(self):
        for keywords, args in (
            ({}, ""),
            (dict(keys="2,2n", separator="|", unique=True), "-t'|' -k2,2n -u"),
            (
                dict(keys=[2, "1,1r"], separator="|", stable=True, memory=1 << 20),
                "-t'|' -k2,2 -k1,1r -s -S1M",
            ),
            (dict(numeric=True, reverse=True, parallel=2, count=True, unique=True), "-nru --count"),
            (dict(general_numeric=True, random=None, csv=False, memory="2M"), "-g"),
            (dict(human_numeric=True, ignore_leading_blanks=True), "-hb"),
            (dict(version=True, temporary_directory=["/tmp"], seed=3), "-V"),
            (dict(month=True, dictionary_order=True, ignore_case=True), "-Mdf"),
            (dict(csv=True, header=1, keys=["2,2n"]), "--csv --header -k2,2n"),
            (
                dict(record_size=4, bkey=["0:2:u16le", "2:2:bytes:r"]),
                "--record-size=4 --bkey=0:2:u16le --bkey=2:2:bytes:r",
            ),
        ):
            data = b"\0\1\2\3" * 40 if "record_size" in keywords else lines(500)
            a = self.file("a", data)
            if args.startswith("-Mdf"):
                with self.assertRaises(ValueError):
                    sp.sort(a, self.folder / "x", **keywords)
                continue
            sp.sort(a, self.folder / "x", **keywords)
            sp.sort_file(a, self.folder / "y", args)
            self.assertEqual(
                (self.folder / "x").read_bytes(), (self.folder / "y").read_bytes(), args
            )
            if not keywords.get("csv") and not keywords.get("count"):
                self.assertEqual(
                    bytes(sp.sort_buffer(data, sp.Options(**keywords)).data),
                    (self.folder / "x").read_bytes(),
                )

    def test_first_records_keep_their_order(self):
        a = self.file("a", b"b 1\na 2\nb 1\na 3\n")
        sp.sort(a, self.folder / "x", unique=True, keep_order=True)
        self.assertEqual((self.folder / "x").read_bytes(), b"b 1\na 2\na 3\n")
        with self.assertRaisesRegex(ValueError, "no order to keep"):
            sp.sort_buffer(b"b\n", sp.Options(unique=True, keep_order=True))

    def test_a_limit_and_checkpoints(self):
        lines = [b"%d\n" % (i * 7919 % 100003) for i in range(100003)]
        a, kept = self.file("a", b"n\n" + b"".join(lines)), b"n\n" + b"".join(sorted(lines))
        for limit in 0, 1, 5, 200000:
            head = b"".join(kept.splitlines(True)[: limit + 1])
            sp.sort(a, self.folder / "x", header=True, limit=limit, memory="1M")
            self.assertEqual((self.folder / "x").read_bytes(), head)
        checkpoints = self.folder / "checkpoints"
        report = sp.sort(a, self.folder / "x", header=True, resume=checkpoints, memory="256K")
        self.assertEqual((self.folder / "x").read_bytes(), kept)
        self.assertGreater(report["result"]["runs"], 1)
        self.assertFalse(checkpoints.exists())
        with self.assertRaisesRegex(sp.SpindleError, "merge"):
            sp.sort(a, self.folder / "x", header=True, resume=checkpoints, merge=True)
        with self.assertRaisesRegex(ValueError, "random"):
            sp.Options(random=True, resume=checkpoints)
        for options in sp.Options(limit=1), sp.Options(resume=checkpoints):
            with self.assertRaisesRegex(ValueError, "no limit and no checkpoints"):
                sp.sort_buffer(b"b\n", options)
            with self.assertRaisesRegex(sp.SpindleError, "parts have no"):
                sp.splitters(a, 2, options)
        with self.assertRaisesRegex(ValueError, "invalid number"):
            sp.Options(limit=-1)

    def test_a_condition_chooses_records(self):
        r = random.Random(7)
        rows = [(r.choice("abc"), r.randrange(-99, 99)) for _ in range(3000)]
        a = self.file("a", b"name,n\n" + b"".join(b"%s,%d\n" % (k.encode(), n) for k, n in rows))
        empty = self.file("empty", b"")
        for where, chosen in (
            ("n > 5", lambda k, n: n > 5),
            ("n between -3 and 3 or name = 'c'", lambda k, n: -3 <= n <= 3 or k == "c"),
            ("$2 < -1000", lambda k, n: False),
        ):
            kept = sorted((row for row in rows if chosen(*row)), key=lambda row: row[1])
            report = sp.sort(
                [empty, a], self.folder / "x", csv=True, header=True, keys="n:n", stable=True,
                where=where,
            )
            text = "name,n\n" + "".join(f"{k},{n}\n" for k, n in kept)
            self.assertEqual((self.folder / "x").read_text(), text)
            self.assertEqual(report["result"]["filtered"], len(rows) - len(kept))
        sp.sort(a, self.folder / "x", csv=True, header=True, where="name = 'd'")
        self.assertEqual((self.folder / "x").read_text(), "name,n\n")
        sp.sort(self.file("b", b"b 1\na 20\nc 3\n"), self.folder / "x", where="$2 < 10")
        self.assertEqual((self.folder / "x").read_text(), "b 1\nc 3\n")

    def test_lines_of_json(self):
        a = self.file("a", b'{"n":2,"s":"x"}\n{"n":10}\n{"n":1e0}\n')
        report = sp.sort(a, self.folder / "x", json=True, keys=".n:r")
        self.assertEqual((self.folder / "x").read_text(), '{"n":10}\n{"n":2,"s":"x"}\n{"n":1e0}\n')
        self.assertEqual(report["result"]["records"], 3)
        sp.sort(a, self.folder / "x", json=True, keys=[".s:E", ".n"], where=".n > 1")
        self.assertEqual((self.folder / "x").read_text(), '{"n":2,"s":"x"}\n{"n":10}\n')
        b = self.file("b", b'[{"n":2},\n {"n":1}]')
        sp.sort(b, self.folder / "x", json="array")
        self.assertEqual((self.folder / "x").read_text(), '  {"n":1}\n{"n":2}\n')
        bad = self.file("bad", b'{"n":2}\n{"n":}\n{"n":1}\n')
        report = sp.sort(bad, self.folder / "y", json=True, keys=".n", skip_invalid=True)
        self.assertEqual((self.folder / "y").read_text(), '{"n":1}\n{"n":2}\n')
        self.assertEqual(report["result"]["skipped"], 1)
        for keywords, kind, reason in (
            (dict(json=True, keys=".n"), sp.SpindleError, "bad: line 2, byte 6: not JSON"),
            (dict(json=True, csv=True), ValueError, "'--json' and '--csv'"),
            (dict(json=True, keys="2"), ValueError, "a key is a path"),
            (dict(json="list"), ValueError, "list"),
            (dict(keys=".n"), ValueError, "a path needs --json"),
            (dict(skip_invalid=True), ValueError, "--skip-invalid needs --json"),
        ):
            with self.subTest(keywords), self.assertRaisesRegex(kind, reason):
                sp.sort(bad, self.folder / "z", **keywords)
        self.assertFalse((self.folder / "z").exists())
        options = sp.Options(json=True, keys=".n")
        data = sp.sort_buffer(b'{"n":2}\n{"n":1}\n', options).data
        self.assertEqual(bytes(data), b'{"n":1}\n{"n":2}\n')
        with self.assertRaises((sp.SpindleError, ValueError)):
            sp.sort_buffer(b'{"n":2}\n{"n":}\n', options)

    def test_a_wrong_condition_leaves_no_result(self):
        a, empty = self.file("a", b"name,n\nx,1\ny,z\n"), self.file("empty", b"")
        named = dict(csv=True, header=True)
        for keywords, kind, reason in (
            (dict(named, where="m > 5"), ValueError, "nearest one is 'n'"),
            (dict(named, where="n > 5 n"), ValueError, "is expected instead of 'n'"),
            (dict(named, where="n >"), ValueError, "at the end of 'n >'"),
            (dict(where="n > 5"), ValueError, "header"),
            (dict(named, where="n > 5"), sp.SpindleError, "a: line 3: --where: 'z' is not a num"),
            (dict(named, where="n = 1", merge=True), sp.SpindleError, "condition with a merge"),
            (dict(where="$1 = 1", record_size=2), ValueError, "'--where' and '--record-size'"),
        ):
            with self.subTest(keywords), self.assertRaisesRegex(kind, reason):
                sp.sort(a, self.folder / "x", **keywords)
        with self.assertRaisesRegex(sp.SpindleError, "empty: there is no header to name columns"):
            sp.sort([empty, a], self.folder / "x", csv=True, header="1,first", where="n = 1")
        with self.assertRaisesRegex(ValueError, "no condition"):
            sp.sort_buffer(b"1\n", sp.Options(where="$1 = 1"))
        with self.assertRaisesRegex(sp.SpindleError, "condition with parts"):
            sp.splitters(a, 2, sp.Options(where="$1 = 1"))
        self.assertEqual(sorted(os.listdir(self.folder)), ["a", "empty"])

    def test_columns_have_names(self):
        a = self.file("a", b"name,price\nb,2\na,10\na,2\n")
        sp.sort(a, self.folder / "x", csv=True, header=True, keys=["price:nr", "name"], unique=True)
        self.assertEqual((self.folder / "x").read_bytes(), b"name,price\na,10\na,2\nb,2\n")
        b = self.file("b", b"name,price\na,1\nc,3\n")
        for keywords, expected in (
            (dict(keys="name", suffixes=True), b"name,price_1,price_2\na,10,1\na,2,1\n"),
            (
                dict(left_keys=["name"], right_keys=1, suffixes=("", "_b")),
                b"name,price,price_b\na,10,1\na,2,1\n",
            ),
            (dict(keys="name", type="anti", columns=["1.price"]), b"price\n2\n"),
            (
                dict(keys="name", type="right", missing="-", columns="0,1.price", memory="8M"),
                b"name,price\na,10\na,2\nc,-\n",
            ),
        ):
            sp.join(a, b, self.folder / "x", csv=True, header=True, **keywords)
            self.assertEqual(
                b"".join(sorted((self.folder / "x").read_bytes().splitlines(True)[1:])),
                b"".join(sorted(expected.splitlines(True)[1:])),
            )
            self.assertEqual(
                (self.folder / "x").read_bytes().splitlines()[0], expected.splitlines()[0]
            )

    def test_wrong_keywords_are_refused(self):
        a = self.file("a", b"b\na\n")
        for call, reason in (
            (
                lambda **k: sp.sort(a, a, **k),
                {"uniqe": "unique", "key": "keys", "numeric_sort": "numeric"},
            ),
            (lambda **k: sp.join(a, a, a, **k), {"sufixes": "suffixes", "left_key": "left_keys"}),
            (sp.Options, {"csb": "csv"}),
            (sp.JoinOptions, {"typ": "type"}),
        ):
            for wrong, near in reason.items():
                with self.assertRaisesRegex(
                    TypeError, f"unexpected keyword argument '{wrong}': did you mean '{near}'"
                ):
                    call(**{wrong: True})
        with self.assertRaisesRegex(
            TypeError, "'xyzzy': known are bkey, columns, .*zero_terminated"
        ):
            sp.JoinOptions(xyzzy=1)
        for keywords in (
            dict(keys="0"),
            dict(memory="x"),
            dict(numeric="yes"),
            dict(parallel=0),
            dict(header="x"),
        ):
            self.assertRaises(ValueError, lambda k=keywords: sp.sort(a, a, **k))
        for keywords in dict(suffixes=("a",)), dict(suffixes=("a", "b")), dict(type="outer"):
            self.assertRaises(ValueError, lambda k=keywords: sp.join(a, a, a, **k))
        self.assertEqual(a.read_bytes(), b"b\na\n")

    def test_options_can_be_pickled(self):
        o = sp.Options("-r", keys=["1,1"], numeric=True)
        self.assertEqual(pickle.loads(pickle.dumps(o)).args, o.args)


class Sorting(Folder):
    def test_a_buffer_is_sorted(self):
        data, read, given = sp.sort_buffer(b"b 2\na 1\nc")
        self.assertEqual(bytes(data), b"a 1\nb 2\nc\n")
        self.assertEqual((read.records, read.bytes), (3, 10))
        self.assertEqual(read, given)

    def test_any_buffer_will_do(self):
        with mmap.mmap(-1, 4) as m:
            m[:] = b"b\na\n"
            for data in (
                b"b\na\n",
                bytearray(b"b\na\n"),
                memoryview(b"xb\na\n")[1:],
                m,
                array.array("B", b"b\na\n"),
                pickle.PickleBuffer(b"b\na\n"),
            ):
                with self.subTest(type(data)):
                    self.assertEqual(bytes(sp.sort_buffer(data).data), b"a\nb\n")

    def test_what_has_no_contiguous_bytes_is_refused(self):
        for data in ("text", memoryview(b"abcd")[::2], None):
            with self.subTest(data), self.assertRaises((TypeError, BufferError)):
                sp.sort_buffer(data)

    def test_buffers_one_after_the_other(self):
        data = sp.sort_buffer([b"b\nd", b"", b"c\na"]).data
        self.assertEqual(bytes(data), b"a\nb\nc\nd\n")

    def test_nothing_is_sorted(self):
        self.assertEqual(bytes(sp.sort_buffer(b"").data), b"")
        self.assertEqual(bytes(sp.sort_buffer([]).data), b"")

    def test_options_decide(self):
        data = b"2|b\n10|a\n2|b\n"
        for options, want in (
            ("-t'|' -k1,1n", b"2|b\n2|b\n10|a\n"),
            (["-t|", "-k2,2"], b"10|a\n2|b\n2|b\n"),
            ("-u", b"10|a\n2|b\n"),
            ("-r -n", b"10|a\n2|b\n2|b\n"),
        ):
            with self.subTest(options):
                self.assertEqual(bytes(sp.sort_buffer(data, options).data), want)

    def test_binary_records(self):
        data = struct.pack("<4I", 3, 1, 2, 256)
        got = sp.sort_buffer(data, "--record-size=4 --bkey=0:4:u32le").data
        self.assertEqual(struct.unpack("<4I", got), (1, 2, 3, 256))

    def test_csv_with_quoted_newlines(self):
        got = sp.sort_buffer(b'b,1\n"a\nx",2\n', "--csv -k1,1").data
        self.assertEqual(bytes(got), b'"a\nx",2\nb,1\n')

    def test_a_byte_order_mark_belongs_to_no_record(self):
        mark, data = b"\xef\xbb\xbf", b'"Smith\nJohn",5\n"Doe",4\n'
        got, read, given = sp.sort_buffer(mark + data, "--csv -k2,2n")
        self.assertEqual(bytes(got), mark + b'"Doe",4\n"Smith\nJohn",5\n')
        self.assertEqual((read, given), (sp.tally(data, "--csv"), sp.tally(mark + data, "--csv")))
        self.assertEqual(sp.Options("--csv").head(mark + data, 1), 18)
        self.assertEqual(bytes(sp.sort_buffer(mark, "--csv").data), mark)
        self.assertEqual(bytes(sp.sort_buffer(b"b\n" + mark).data), b"b\n" + mark + b"\n")

    def test_what_does_not_fit_is_spilled(self):
        data = lines(200000)
        options = ["-S1M", "-T", str(self.folder), "--parallel=2"]
        want = b"".join(sorted(data.splitlines(True)))
        self.assertEqual(bytes(sp.sort_buffer(data, options).data), want)
        self.assertEqual(os.listdir(self.folder), [])

    def test_files_and_their_report(self):
        a, b = self.file("a", b"h\n3\n1\n"), self.file("b", b"h\n2")
        report = sp.sort_file([a, b], self.folder / "out", "-n --header")
        self.assertEqual((self.folder / "out").read_bytes(), b"h\n1\n2\n3\n")
        self.assertEqual(report["schema"], "spindle.sort/1")
        self.assertEqual(report["result"]["records"], 3)
        sp.sort_file(self.folder / "out", a, "-n --header", merge=True)
        self.assertEqual(a.read_bytes(), b"h\n1\n2\n3\n")

    def test_other_threads_run_meanwhile(self):
        data, turns, stop = lines(1000000), [0], threading.Event()

        def count():
            while not stop.is_set():
                turns[0] += 1
                time.sleep(0.001)

        thread = threading.Thread(target=count)
        thread.start()
        before = turns[0]
        sp.sort_buffer(data, "--parallel=1")
        after = turns[0]
        stop.set()
        thread.join()
        self.assertGreater(after - before, 5)

    def test_options_can_be_sent(self):
        o = pickle.loads(pickle.dumps(sp.Options("-k1,1 -r")))
        self.assertEqual(o.args, ("-k1,1", "-r"))


class Parts(Folder):
    def test_split_and_merge_make_the_whole(self):
        pieces = [lines(5000, seed) for seed in range(4)]
        options = sp.Options("-t'|' -k1,1n")
        whole = bytes(sp.sort_buffer(pieces, options).data)
        cuts = sp.splitters([self.file("in", whole)], 5, options)
        self.assertEqual(len(cuts), 4)
        pieces = [sp.sort_buffer(p, options).data for p in pieces]
        ends = [[0, *sp.split(p, options, cuts), len(p)] for p in pieces]
        out, total = b"", sp.Tally()
        for i in range(5):
            blocks = [p[e[i] : e[i + 1]] for p, e in zip(pieces, ends)]
            with sp.Merge(blocks, options) as m:
                out += b"".join(m)
                read, given = m.tallies()
            self.assertEqual(read, given)
            total += given
        self.assertEqual(out, whole)
        self.assertEqual(total, sp.tally(whole, options))

    def test_a_merge_is_written(self):
        out = self.folder / "out"
        with sp.Merge([b"a\nc\n", b"b\nc\n"], "-u") as m:
            m.write(out, b"head\n")
            read, given = m.tallies()
        self.assertEqual(out.read_bytes(), b"head\na\nb\nc\n")
        self.assertEqual((read.records, given.records), (4, 3))
        self.assertRaises(ValueError, m.write, out)
        with sp.Merge([b"b\na\n"]) as m:
            self.assertRaises(sp.SpindleError, m.write, self.folder / "none")
        self.assertFalse((self.folder / "none").exists())

    def test_huge_records_are_merged(self):
        big = b"x" * 3_000_000 + b"\n"
        got = b"".join(sp.merge([b"a\n" + big, b"b\ny\n"]))
        self.assertEqual(got, b"a\nb\n" + big + b"y\n")

    def test_offsets(self):
        self.assertEqual(sp.split(b"a\nb\nc\n", "", [b"b\n", b"b\n", b"d\n"]), [2, 2, 6])
        self.assertEqual(sp.split(b"", "", [b"b\n"]), [0])
        self.assertEqual(sp.split(b"a\n", "", []), [])

    def test_files_of_a_join_are_partitioned_by_keys(self):
        data, options = lines(5000, 3), sp.JoinOptions("-t'|' -1 1 -2 2")
        got = sp.partition(data, options, 0, 4)
        self.assertEqual(got.tally, sp.tally(data))
        self.assertEqual(sorted(bytes(got.data).splitlines()), sorted(data.splitlines()))
        other = b"".join(b"x|%s\n" % line.split(b"|")[0] for line in data.splitlines())
        keys = [
            {line.split(b"|")[side] for line in bytes(made.data[a:b]).splitlines()}
            for side, made in ((0, got), (1, sp.partition(other, options, 1, 4)))
            for a, b in zip([0, *made.offsets], [*made.offsets, len(made.data)])
        ]
        self.assertEqual(keys[:4], keys[4:])
        self.assertEqual(sum(map(len, keys[:4])), len(set().union(*keys)))
        self.assertTrue(all(keys))
        self.assertEqual(bytes(sp.partition(b"", options, 1, 3).data), b"")

    def test_the_first_records(self):
        self.assertEqual(sp.Options("--csv").head(b'"a\nb"\nc\n', 1), 6)


class Names(Folder):
    """Columns by name."""

    HEADER = b'id,"of, me"\n'

    def test_keys_of_files(self):
        data = self.HEADER + b"1,b\n2,a\n"
        a, out = self.file("a", data), self.folder / "out"
        for key in ('"of, me"', "id:nr"):
            sp.sort_file(a, out, ["--csv", "--header", "-k", key])
            self.assertEqual(out.read_bytes(), self.HEADER + b"2,a\n1,b\n")
        self.assertEqual(sp.splitters(a, 2, ["--csv", "--header", "-k", "id:nr"]), [b"1,b\n"])

    def test_words_with_numbers(self):
        a = self.file("a", self.HEADER)
        named = sp.Options(["--csv", "--header=1", "-k", "id:n", "-u"])
        self.assertEqual(named.numbered(a).args, ("--csv", "--header=1", "--key=1,1n", "--unique"))
        self.assertFalse(named.numbered(a).info.named)

    def test_columns_of_joins(self):
        left = self.file("l", self.HEADER + b"1,b\n2,a\n")
        right = self.file("r", b"n,id\nx,2\n")
        options = ["--csv", "--header", "-1", "id:n", "-2", "id", "-o", '2.n,0,1."of, me"']
        sp.join_files(left, right, self.folder / "out", options)
        self.assertEqual((self.folder / "out").read_bytes(), b'n,id,"of, me"\nx,2,a\n')
        numbered = sp.JoinOptions(options).numbered(left, right)
        self.assertEqual(numbered.args, ("--csv", "--header", "-11n", "-22", "-o2.1,0,1.2"))

    def test_an_empty_filler(self):
        left = self.file("l", b"id n\n1 x\n2 y\n")
        right = self.file("r", b"id m\n2 z\n")
        options = ["--header", "-e", "", "-a", "1", "-1", "id", "-2", "id"]
        sp.join_files(left, right, self.folder / "out", options)
        self.assertEqual((self.folder / "out").read_bytes(), b"id n m\n1 x\n2 y z\n")
        numbered = sp.JoinOptions(options).numbered(left, right)
        self.assertEqual(numbered.args, ("--header", "-e", "", "-a1", "-11", "-21"))

    def test_options_of_the_command_are_words_again(self):
        given = ["-rzk", "1", "--header", "a", "-t", "", "--uniq", "--key=2"]
        pairs, rest = cli.options_of(given, cli.PASSED["sort"])
        self.assertEqual(rest, ["a"])
        self.assertEqual(
            cli.args_of(pairs, ["-z"]),
            ["-r", "-k", "1", "--header=1", "-t", "", "--unique", "--key=2"],
        )
        for given, sides in (
            ("-e -- a -- b", [["a"], ["b"]]),
            ("-e-- a -i -- b -i", [["a"], ["b", "-i"]]),
            ("a b -e --", [["a", "b"], []]),
        ):
            self.assertEqual(cli.parsed(["join", *given.split()]).inputs, sides)

    def test_what_cannot_be(self):
        a = self.file("a", self.HEADER)
        named = sp.Options(["--csv", "--header", "-k", "id"])
        for call in (
            lambda: sp.sort_buffer(b"1,2\n", named),
            lambda: sp.Options(["-k", "id"]),
            lambda: sp.Options(["--header", "--record-size=4", "-k", "id"]),
            lambda: sp.JoinOptions(["-1", "id"]),
            lambda: sp.JoinOptions("--header -1 id -2 nope").numbered(a, a),
        ):
            self.assertRaises(ValueError, call)
        with self.assertRaises(ValueError) as wrong:
            sp.Options("--csv --header -k nope").numbered(a)
        self.assertEqual(str(wrong.exception), f"{a}: the header has no column 'nope'")
        with self.assertRaises(sp.SpindleError) as none:
            named.numbered(self.folder / "none")
        self.assertEqual(none.exception.code, -errno.ENOENT)
        with self.assertRaises(sp.SpindleError) as e:
            sp.sort_file(a, self.folder / "out", ["--csv", "--header", "-k", "ids"])
        self.assertEqual(e.exception.path, str(a))
        self.assertEqual(e.exception.text, "the header has no column 'ids'; the nearest is 'id'")


class Joining(Folder):
    def joined(self, left, right, *options):
        report = sp.join_files(
            self.file("l", left), self.file("r", right), self.folder / "out", options
        )
        self.assertEqual(report["schema"], "spindle.join/1")
        return (self.folder / "out").read_bytes()

    def test_lines(self):
        left, right = b"1|a\n2|b\n2|c\n", b"x|2\ny|3\n"
        for options, want in (
            ("-t| -2 2", b"2|b|x\n2|c|x\n"),
            ("-t| -2 2 -a 1", b"1|a\n2|b|x\n2|c|x\n"),
            ("-t| -2 2 -v 2", b"3|y\n"),
            ("-t| -12n -j1 ", None),
            ("-t| -2 2 --type=full -e - -o 0,1.2,2.1", b"1|a|-\n2|b|x\n2|c|x\n3|-|y\n"),
            ("-t| -1 1n -2 2 --type=semi", b"2|b\n2|c\n"),
        ):
            with self.subTest(options):
                if want is None:
                    self.assertRaises(ValueError, self.joined, left, right, *options.split())
                else:
                    got = self.joined(left, right, *options.split())
                    self.assertEqual(sorted(got.splitlines()), sorted(want.splitlines()))

    def test_pipes(self):
        pipes = [os.pipe() for _ in range(2)]
        for (_, to), data in zip(pipes, (b"1|a\n2|b\n", b"2|x\n")):
            os.write(to, data)
            os.close(to)
        paths = [f"/proc/self/fd/{pipe}" for pipe, _ in pipes]
        report = sp.join_files(*paths, self.folder / "out", "-t'|'", sizes=(8, 4))
        for pipe, _ in pipes:
            os.close(pipe)
        self.assertEqual((self.folder / "out").read_bytes(), b"2|b|x\n")
        self.assertEqual(report["result"]["build_input"], 2)

    def test_what_can_be_joined_in_parts(self):
        for args, want in (
            ("", (True, True)),
            ("-a1", (True, False)),
            ("-v2", (False, True)),
            ("--type=full", (False, False)),
            ("--type=semi", (True, False)),
            ("--type=anti", (True, False)),
        ):
            with self.subTest(args):
                options = sp.JoinOptions(args)
                self.assertEqual((options.divides(0), options.divides(1)), want)

    def test_blocks(self):
        asked = []

        def side(name, *blocks):
            for block in blocks:
                asked.append(name)
                yield bytearray(block)

        left, right = side("l", b"k|a\n", b"", b"1|x\n2|y\n", b"3|z\n"), side("r", b"k|b\n2|u\n")
        out = self.folder / "out"
        report = sp.join_blocks(left, right, out, "-t'|' --header -a1", sizes=(16, 8))
        want = [b"1|x", b"2|y|u", b"3|z", b"k|a|b"]
        self.assertEqual(sorted(out.read_bytes().splitlines()), want)
        self.assertEqual((asked.count("l"), asked.count("r")), (4, 1))
        self.assertEqual(report["result"]["build_input"], 2)

    def test_blocks_that_cannot_be_had(self):
        def failing():
            yield b"1\n"
            raise RuntimeError("lost")

        for sides in ((failing(), [b"1\n"]), ([b"1\n"], failing())):
            self.assertRaisesRegex(RuntimeError, "lost", sp.join_blocks, *sides, self.folder / "o")
        self.assertFalse((self.folder / "o").exists())
        self.assertRaises(ValueError, sp.join_blocks, [], [], "o", "--header -1 id -2 id")

    def test_blocks_that_are_not_whole(self):
        for args, whole, cut in (
            ("", b"1\n", b"1"),
            ("--header", b"h\n", b"h"),
            ("-z", b"1\0", b"1\n"),
            ("--csv", b'"1\n"\n', b'"1\n'),
            ("--record-size=2 --bkey=0:2", b"1234", b"123"),
        ):
            for sides, name in (([[cut], [whole]], "file 1"), ([[whole], [cut]], "file 2")):
                with self.subTest(args), self.assertRaises(sp.SpindleError) as e:
                    sp.join_blocks(*sides, self.folder / "o", args)
                self.assertEqual(str(e.exception), f"{name}: the last record is not whole")
        self.assertFalse((self.folder / "o").exists())

    def test_csv_and_binary(self):
        got = self.joined(b'k,a\n"1\n",x\n', b'k,b\n"1\n",y\n', "--csv", "--header")
        self.assertEqual(got, b'k,a,b\n"1\n",x,y\n')
        left, right = struct.pack("<2I", 1, 10), struct.pack("<2I", 20, 1)
        args = ("--record-size=8", "--bkey=0:4:u32le,4:4:u32le")
        self.assertEqual(self.joined(left, right, *args), left + right)
        got = self.joined(left, right, *args, "-o", "1.4:4,2.0:4")
        self.assertEqual(struct.unpack("<2I", got), (10, 20))

    def test_wrong_options_are_value_errors(self):
        for options, text in (
            ("-1 0", "invalid field number: '0'"),
            ("-1 1,2 -2 1", "different numbers of fields"),
            ("-1 1n -2 1g", "different types"),
            ("-a 3", "invalid field number: '3'"),
            ("-o 1", "invalid field specifier: '1'"),
            ("-t ab", "multi-character tab 'ab'"),
            ("--bkey=0:1", "--bkey needs --record-size"),
            ("--record-size=4 -j 1", "'-j' and '--record-size' are incompatible"),
            ("--type=cross", "invalid --type argument 'cross'"),
            ("--type=lfet", "invalid --type argument (did you mean 'left'?): 'lfet'"),
            ("file", "not an option: 'file'"),
        ):
            with self.subTest(options), self.assertRaises(ValueError) as e:
                sp.JoinOptions(options)
            self.assertIn(text, str(e.exception))


class ArrowStream:
    """Hands a capsule over to one consumer, as objects of other packages do."""

    def __init__(self, scan: sp.Scan):
        self.scan = scan

    def __arrow_c_stream__(self, requested_schema=None):
        return self.scan.__arrow_c_stream__(requested_schema)


@unittest.skipUnless(XTABLE.exists(), "xtable is not part of this build")
class TableFolder(Folder):
    def xtable(self, *words: str) -> str:
        return subprocess.run(
            [XTABLE, *words], cwd=self.folder, check=True, capture_output=True, text=True
        ).stdout

    def setUp(self):
        super().setUp()
        records = b"".join(b"%d,name %d\n" % (i, i % 7) for i in range(9999))
        self.file("t.csv", b"id,name\n" + records)
        self.xtable("load", "t", "--csv", "--header", "t.csv")
        self.table = sp.Table(self.folder / "t")


class Tables(TableFolder):
    def printed(self, scan: sp.Scan) -> str:
        sp.Table.load(self.folder / "u", ArrowStream(scan), overwrite=True)
        return self.xtable("scan", "u")

    def test_groups_of_a_table(self):
        table, out = self.folder / "t", self.folder / "out.csv"
        report = sp.group(table, out, keys="name", agg="max(id)", limit=2)
        self.assertEqual(out.read_text(), "name,max(id)\nname 0,9996\nname 1,9997\n")
        self.assertEqual(report["result"]["records"], 9999)
        with self.assertRaisesRegex(sp.SpindleError, "grouped without other inputs"):
            sp.group([table, self.folder / "t.csv"], out, keys="name")

    def test_a_scan_loads_another_table(self):
        self.assertEqual(self.printed(self.table.scan()), (self.folder / "t.csv").read_text())
        self.assertEqual(
            self.printed(self.table.scan(["name", "id"], "id < 3", memory="4M")),
            "name,id\nname 0,0\nname 1,1\nname 2,2\n",
        )
        few = self.table.scan(["id"], lo=7, hi=5000, limit=2, memory=1 << 22)
        self.assertEqual(self.printed(few), "id\n7\n8\n")
        self.assertEqual(self.printed(self.table.scan(["id"], lo=7, hi=8)), "id\n7\n")
        for lo, hi in ((7, 7), (None, 0)):
            self.assertEqual(self.printed(self.table.scan(["id"], lo=lo, hi=hi)), "id\n")

    def test_tables_and_scans_can_be_copied(self):
        for o in copy.deepcopy(self.table), copy.copy(self.table):
            scan = pickle.loads(pickle.dumps(o.scan(["id"], limit=2)))
            self.assertEqual(self.printed(copy.copy(scan)), "id\n0\n1\n")

    def test_a_stream_that_nobody_takes_is_released(self):
        for _ in range(300):  # more than there are descriptors, if each were kept
            self.table.scan(["id"]).__arrow_c_stream__()
        self.assertLess(len(os.listdir("/proc/self/fd")), 100)

    def test_layouts(self):
        scan = self.table.scan()
        sp.Table.load(self.folder / "n", scan, layout="nsm")
        self.assertIn("layout: nsm", self.xtable("info", "n"))
        sp.Table.load(self.folder / "g", scan, together=[["id", "name"]], parallel=1)
        self.assertEqual(self.xtable("scan", "g"), (self.folder / "t.csv").read_text())

    def test_what_is_refused(self):
        with self.assertRaisesRegex(sp.SpindleError, "nearest name is 'id'"):
            self.table.scan(["it"]).__arrow_c_stream__()
        with self.assertRaisesRegex(sp.SpindleError, "missing.*No such file"):
            sp.Table(self.folder / "missing").scan().__arrow_c_stream__()
        with self.assertRaisesRegex(TypeError, "list of names"):
            self.table.scan("id")
        with self.assertRaisesRegex(ValueError, "layout"):
            sp.Table.load(self.folder / "v", self.table.scan(), layout="rows")
        with self.assertRaisesRegex(sp.SpindleError, "overwrite=True"):
            sp.Table.load(self.folder / "t", self.table.scan())
        with self.assertRaisesRegex(TypeError, "a dict has no __arrow_c_stream__"):
            sp.Table.load(self.folder / "v", {"id": [1]})
        self.assertFalse((self.folder / "v").exists())

    def test_names_with_commas_and_quotes(self):
        self.file("q.csv", b'"a,""b",c\n1,2\n')
        self.xtable("load", "q", "--csv", "--header", "q.csv")
        self.assertEqual(self.printed(sp.Table(self.folder / "q").scan(['a,"b'])), '"a,""b"\n1\n')


@unittest.skipUnless(importlib.util.find_spec("pyarrow"), "pyarrow is not there")
class PyArrow(TableFolder):
    def test_random_columns_come_back(self):
        import pyarrow as pa

        r = random.Random(34)

        def some(value):
            return [None if r.random() < 0.1 else value() for _ in range(5000)]

        def when():
            us = r.randrange(-(10**15), 10**15)
            return datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=us)

        def amount():
            return decimal.Decimal(r.randrange(-(10**9), 10**9)).scaleb(-3)

        columns = {
            "i": pa.array(some(lambda: r.randrange(-(2**62), 2**62)), pa.int64()),
            "u": pa.array(some(lambda: r.randrange(255)), pa.uint8()),
            "f": pa.array(some(lambda: r.uniform(-1e9, 1e9)), pa.float64()),
            "d": pa.array(some(amount), pa.decimal128(18, 3)),
            "day": pa.array(some(lambda: when().date()), pa.date32()),
            "us": pa.array(some(when), pa.timestamp("us")),
            "text": pa.array(some(lambda: "\u00e4" * r.randrange(40)), pa.string()),
        }
        given = pa.table(columns)
        want = given.to_pydict()
        some_days = [
            (day, i)
            for day, i, u in zip(want["day"], want["i"], want["u"])
            if u is not None and u > 200
        ]
        for layout in ("nsm", "pax", "dsm", "csm"):
            t = sp.Table.load(self.folder / "p", given, layout=layout, overwrite=True)
            got = pa.table(t.scan(memory="4M"))
            got.validate(full=True)
            self.assertEqual(got.to_pydict(), want)
            few = pa.table(t.scan(["day", "i"], "u > 200")).to_pydict()
            self.assertEqual(list(zip(few["day"], few["i"])), some_days)

    def test_batches_outlive_the_table(self):
        import pyarrow as pa

        reader = pa.RecordBatchReader.from_stream(self.table.scan(memory="4M"))
        first = reader.read_next_batch()
        reader.close()
        (self.folder / "t").unlink()
        self.assertEqual(first["id"].to_pylist()[:3], [0, 1, 2])


class Errors(Folder):
    def test_they_are_printable(self):
        for name, shown in (("\x1b[1m", "\\033[1m"), ("a\nä", "a\\012ä"), ("\udcff", "\\377")):
            with self.assertRaises(sp.SpindleError) as e:
                sp.sort_file(self.folder / name, self.folder / "out")
            self.assertEqual(str(e.exception), f"{self.folder}/{shown}: No such file or directory")
            self.assertEqual(e.exception.path, f"{self.folder}/{name}")

    def test_they_carry_code_path_and_offset(self):
        with self.assertRaises(sp.SpindleError) as e:
            sp.sort_file(self.folder / "none", self.folder / "out")
        self.assertEqual(e.exception.code, -2)
        self.assertEqual(e.exception.path, str(self.folder / "none"))
        self.assertIsNone(e.exception.offset)
        self.assertIn("No such file", str(e.exception))
        self.assertEqual(pickle.loads(pickle.dumps(e.exception)).path, e.exception.path)

    def test_wrong_options_are_value_errors(self):
        for options, text in (
            ("-k0", "field number is zero"),
            ("-t ab", "multi-character tab 'ab'"),
            ("-c", "not an option that applies here: '-c'"),
            ("--paralel=2", "applies here (did you mean '--parallel'?): '--paralel=2'"),
            ("file", "not an option: 'file'"),
            ("--csv -z", "'--csv' and '-z' are incompatible"),
            ("--bkey=0:1", "--bkey needs --record-size"),
            ("--count", "--count needs --unique"),
            ("-S x", "invalid -S argument 'x'"),
        ):
            with self.subTest(options), self.assertRaises(ValueError) as e:
                sp.Options(options)
            self.assertIn(text, str(e.exception))

    def test_data_that_is_wrong(self):
        for call in (
            lambda: list(sp.merge([b"b\na\nc\n", b"b\n"])),
            lambda: list(sp.merge([b"a"])),
            lambda: sp.split(b"a", "", [b"b\n"]),
            lambda: sp.partition(b"a", "", 0, 2),
            lambda: sp.split(b"a\n", "", [b"b\n", b"a\n"]),
            lambda: sp.tally(b"a\nb"),
            lambda: sp.sort_buffer(b"12345", "--record-size=4"),
            lambda: sp.sort_buffer(b'"a\n', "--csv"),
        ):
            with self.assertRaises(sp.SpindleError):
                call()

    def test_memory_for_a_result_has_room(self):
        for call in (
            lambda into: sp.sort_buffer(b"a\n" * 99, into=into),
            lambda into: sp.partition(b"a\n" * 99, "", 0, 2, into=into),
        ):
            self.assertRaises(ValueError, call, lambda n: bytearray(n - 1))
            self.assertRaises(BufferError, call, bytes)

    def test_numbers_of_parts_that_cannot_be(self):
        a = self.file("a", b"1\n2\n")
        for parts in (0, -1):
            self.assertRaises(sp.SpindleError, sp.splitters, a, parts)

    def test_names_end_where_they_seem_to(self):
        a, b = self.file("a", b"1\n"), str(self.folder / "b\0c")
        for call in (
            lambda: sp.sort_file(a, b),
            lambda: sp.sort_file([b], a),
            lambda: sp.join_files(a, a, b),
            lambda: sp.join_blocks([], [], b),
            lambda: sp.Merge([]).write(b),
            lambda: sp.Options(["-k1\0"]),
        ):
            self.assertRaisesRegex(ValueError, "null byte", call)
        self.assertFalse((self.folder / "b").exists())

    def test_a_closed_merge_is_not_used(self):
        m = sp.Merge([b"a\n"])
        m.close()
        with self.assertRaises(ValueError):
            list(m)


class OutputFolder(Folder):
    """Of spindle-ray."""

    def setUp(self):
        super().setUp()
        self.out = self.folder / "out"

    def write(self, out, overwrite=False, meanwhile=lambda: None):
        with files.folder(str(out), overwrite) as new:
            Path(files.part(new, 0)).write_bytes(b"1\n")
            meanwhile()

    def names(self, folder):
        return sorted(p.name for p in folder.iterdir())

    def test_its_name_is_not_empty(self):
        a = self.file("a", b"1\n")
        for args in (["-o", ""], ["--output="]):
            with self.assertRaisesRegex(ValueError, "-o/--output is needed"):
                cli.work_of(cli.parsed(["sort", *args, str(a)]))

    def test_standard_streams_are_refused(self):
        a = str(self.file("a", b"1\n"))
        for args in (["-o", "-", a], ["-o", "b", "-"], ["-o", "b", "-T", "-", a]):
            with self.assertRaisesRegex(ValueError, "^-: other machines cannot use"):
                cli.work_of(cli.parsed(["sort", *args]))

    def test_inputs_are_not_replaced(self):
        self.out.mkdir()
        a = self.file("out/a", b"1\n")
        (self.folder / "link").symlink_to("out")
        for out in (self.out, self.folder / "link", self.folder):
            with self.assertRaisesRegex(ValueError, "lies in"):
                cli.work_of(cli.parsed(["sort", "--overwrite", "-o", str(out), str(a)]))
        with self.assertRaisesRegex(ValueError, "an input, and"):
            cli.work_of(cli.parsed(["sort", f"--stats={a}", "-o", str(self.out / "b"), str(a)]))

    def test_it_is_replaced(self):
        self.write(self.out)
        self.write(self.out, overwrite=True, meanwhile=lambda: (self.out / "b").touch())
        self.assertEqual((self.names(self.folder), self.names(self.out)), (["out"], ["part-00000"]))

    def test_what_came_meanwhile_stays(self):
        self.out.mkdir()
        with self.assertRaisesRegex(ValueError, "not empty"):
            self.write(self.out, meanwhile=lambda: (self.out / "b").touch())
        self.assertEqual((self.names(self.folder), self.names(self.out)), (["out"], ["b"]))

    def test_it_is_private_until_it_is_complete(self):
        seen = []
        before = os.umask(0o027)
        self.addCleanup(os.umask, before)
        for mode in (0o750, 0o700):
            with files.folder(str(self.out), True) as new:
                seen.append(os.stat(new).st_mode & 0o777)
                Path(files.part(new, 0)).write_bytes(b"1\n")
            self.assertEqual(os.stat(self.out).st_mode & 0o777, mode)
            self.out.chmod(0o700)
        self.assertEqual(seen, [0o700, 0o700])

    def test_one_that_cannot_be_renamed_gets_the_parts(self):
        self.out.mkdir()
        before = os.stat(self.out).st_ino
        with mock.patch.object(files, "is_mounted", lambda path: path == str(self.out)):
            self.write(self.out)
            self.assertEqual(self.names(self.out), ["part-00000"])
            (self.out / "old").touch()
            self.assertRaises(ValueError, self.write, self.out)
            self.assertEqual(self.names(self.out), ["old", "part-00000"])
            self.write(self.out, overwrite=True)
            self.assertEqual(self.names(self.out), ["part-00000"])
            (self.out / "old").touch()
            (self.out / "part-00000").write_bytes(b"old")
            rename = os.rename

            def failing(a, b):
                if b == str(self.out / "part-00000") and ".new" in a:
                    raise KeyboardInterrupt
                rename(a, b)

            with mock.patch("os.rename", failing), self.assertRaises(KeyboardInterrupt):
                self.write(self.out, overwrite=True)
        self.assertEqual(self.names(self.folder), ["out"])
        self.assertEqual(self.names(self.out), ["old", "part-00000"])
        self.assertEqual((self.out / "part-00000").read_bytes(), b"old")
        self.assertEqual(os.stat(self.out).st_ino, before)

    def test_a_mount_point(self):
        out, code = self.folder / "a b", "from spindle_io.ray import files; import sys; "
        out.mkdir()
        code += 'exec(\'with files.folder(sys.argv[1], True) as f: open(f + "/p", "x")\')'
        script = 'mount --bind "$1" "$1" && exec "$2" -c "$3" "$1"'
        args = ["unshare", "-rm", "sh", "-c", script, "sh", out, sys.executable, code]
        if subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode:
            self.skipTest("no mounts in a namespace of one's own here")
        done = subprocess.run(args, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.names(out), ["p"])

    def test_a_link_stays_one(self):
        (self.folder / "there").mkdir()
        self.out.symlink_to("there")
        self.write(self.out)
        self.assertEqual(self.names(self.folder), ["out", "there"])
        self.assertEqual(self.names(self.folder / "there"), ["part-00000"])

    def test_what_could_not_be_replaced_is_kept(self):
        rename = os.rename

        def failing(a, b):
            if a.endswith(".new") and b == str(self.out):
                raise KeyboardInterrupt
            rename(a, b)

        self.out.mkdir()
        (self.out / "b").touch()
        with mock.patch("os.rename", failing), self.assertRaises(KeyboardInterrupt):
            self.write(self.out, overwrite=True)
        self.assertEqual((self.names(self.folder), self.names(self.out)), (["out"], ["b"]))

    def test_tasks_that_go_on_find_nowhere_to_write(self):
        rmdir, new = os.rmdir, []

        def writing(*args, **kwargs):
            with contextlib.suppress(FileNotFoundError):
                Path(files.part(new[0], 1)).touch()
            rmdir(*args, **kwargs)

        with mock.patch("os.rmdir", writing), self.assertRaises(RuntimeError):
            with files.folder(str(self.out), False) as folder:
                new.append(folder)
                raise RuntimeError
        self.assertEqual(self.names(self.folder), [])


class Installed(unittest.TestCase):
    def run_python(self, *args, **env):
        return subprocess.run(
            [sys.executable, *args], capture_output=True, text=True, env={**os.environ, **env}
        )

    def test_version(self):
        done = self.run_python("-m", "spindle_io", "--version")
        self.assertEqual(done.stdout, f"spindle_io {sp.__version__}\n")
        self.assertEqual(self.run_python("-m", "spindle_io").returncode, 2)

    def test_another_version_of_the_library_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            package = Path(folder) / "spindle_io"
            package.mkdir()
            for path in Path(sp.__file__).parent.iterdir():
                if path.name not in ("_version.py", "__pycache__"):
                    (package / path.name).symlink_to(path)
            (package / "_version.py").write_text('__version__ = "9.9"\n')
            done = self.run_python("-c", "import spindle_io", PYTHONPATH=folder)
            self.assertIn("this is version 9.9, but", done.stderr)
            (package / "lib").unlink()
            done = self.run_python("-c", "import spindle_io", PYTHONPATH=folder)
            self.assertIn("the library cannot be used", done.stderr)


if __name__ == "__main__":
    unittest.main(testRunner=tap.Runner)
