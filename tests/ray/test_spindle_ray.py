# SPDX-License-Identifier: MIT
"""spindle-ray on three raylets of one machine, on the loopback interface.

One cluster serves all tests but those that take a node away.  Faults are put in place of the
functions that run on the machines (faults.py).
"""

import contextlib
import io
import json
import locale
import os
import random
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from unittest import mock

import faults
import ray
import tap
from ray.cluster_utils import Cluster
from spindle_io.ray import cli, job, plan, seen, tasks

XSORT, XJOIN, XGROUP = (os.environ[tool] for tool in ("XSORT", "XJOIN", "XGROUP"))
FITS_SCHEMA = Path(__file__).resolve().parents[2] / "scripts/fits-schema"
LOCALES = Path(__file__).resolve().parents[2] / "build/locale"
STORE = 80 << 20
cluster = None


def setUpModule():
    global cluster
    os.environ["LOCPATH"] = str(LOCALES)
    head = {"num_cpus": 1, "object_store_memory": STORE, "node_ip_address": "127.0.0.1"}
    cluster = Cluster(initialize_head=True, head_node_args={**head, "include_dashboard": False})
    for _ in range(2):
        cluster.add_node(**head)
    ray.init(address=cluster.address, log_to_driver=False, logging_level="error")


def tearDownModule():
    ray.shutdown()
    cluster.shutdown()


def lines(n: int, seed: int = 1) -> bytes:
    r = random.Random(seed)
    return b"".join(b"%d|%s\n" % (r.randrange(n), b"x" * r.randrange(60)) for _ in range(n))


class Base(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.out = self.folder / "out"

    def file(self, name: str, data: bytes) -> str:
        (self.folder / name).write_bytes(data)
        return str(self.folder / name)

    def command(self, *words):
        """Runs a command; its status, and what it said."""
        said = io.StringIO()
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            status = cli.main([str(w) for w in words])
        return status, said.getvalue()

    def result(self) -> bytes:
        return b"".join(p.read_bytes() for p in sorted(self.out.iterdir()))

    def nothing_is_left(self):
        left = {p.name for p in self.folder.iterdir()} - self.inputs
        self.assertEqual(left, set())

    def sort(self, inputs, *options, own=("-S1M", "--ranges=5")):
        """Sorts and compares with xsort; returns the report."""
        stats = self.folder / "stats"
        status, said = self.command(
            "sort", *own, *options, "--overwrite", "-o", self.out, f"--stats={stats}", *inputs
        )
        self.assertEqual((status, said.count("spindle-ray:")), (0, 0), said)
        want = subprocess.run([XSORT, *options, *inputs], check=True, capture_output=True).stdout
        self.assertTrue(self.result() == want, f"{options}: not the bytes of xsort")
        return json.loads(stats.read_text())


class Sort(Base):
    def test_formats_and_orders(self):
        three = [self.file(f"in{i}", lines(20000, i)) for i in range(3)]
        open_end = [self.file("open", lines(9000)[:-1]), self.file("none", b"")]
        for options in (
            [],
            ["-t|", "-k1,1n"],
            ["-t|", "-k1,1nr", "-s"],
            ["-u"],
            ["-t|", "-k1,1n", "-u"],
            ["-t|", "-k2,2", "-u", "--count"],
            ["-r"],
        ):
            with self.subTest(options):
                self.sort(three + open_end, *options)

    def test_nothing_is_sorted(self):
        self.sort([self.file("a", b""), self.file("b", b"")])

    def test_headers_go_to_the_first_part(self):
        a, b = (
            self.file("a", b"name|n\n" + lines(9000)),
            self.file("b", b"name|n\n" + lines(500, 2)),
        )
        self.sort([a, b], "--header", "-t|", "-k1,1n")
        self.assertTrue((self.out / "part-00000").read_bytes().startswith(b"name|n\n"))
        self.sort([a, self.file("c", lines(500))], "--header=1,first", "-n")
        self.sort([a, b], "--header", "-t|", "-k2,2", "-u", "--count")
        self.sort([a, b], "--header", "-t|", "-kn", "-k", "name:nr")
        self.sort([self.file("d", b"name|n"), self.file("e", lines(9))], "--header=1,first")

    def test_the_locale_is_that_of_the_command(self):
        name, r = "de_DE.UTF-8", random.Random(6)
        if not (LOCALES / name).exists():
            self.skipTest(f"needs the locale {name} in build/locale")
        rows = ((r.choice("aäAbBz-"), r.choice("xyÄ"), r.randrange(9)) for _ in range(20000))
        text = "".join(f"{a}{b}{a};1,{n}\n" for a, b, n in rows)
        self.addCleanup(locale.setlocale, locale.LC_ALL, locale.setlocale(locale.LC_ALL))
        with mock.patch.dict(os.environ, LC_ALL=name):
            for options in ([], ["-t;", "-k2,2n", "-s"]):
                self.sort([self.file("a", text.encode())], *options)

    def test_a_locale_that_is_not_there(self):
        with mock.patch.dict(os.environ, LC_ALL="xx_XX"):
            self.sort([self.file("a", lines(99))])

    def test_lines_of_json(self):
        r = random.Random(5)
        values = ["1", "1.0", '"1"', "null", "[1, 2]", '"\\u00e9"', '"é"', "-2e3"]
        text = "".join('{"k":%s,"i":%d}\n' % (r.choice(values), i) for i in range(40000))
        a = self.file("a", text.encode())
        self.sort([a], "--json", "-k", ".k", "-k", ".i:r")
        self.sort([a], "--json", "-u", "-k", ".k")
        bad = self.file("bad", text.encode() + b'{"k":}\n')
        words = ("sort", "--json", "-k", ".k", "-o", self.out, "--overwrite", bad)
        status, said = self.command(*words)
        self.assertNotEqual(status, 0, said)

    def test_csv_with_quoted_newlines(self):
        r = random.Random(3)
        rows = [b'%d,"a\n""b%d"\r\n' % (r.randrange(999), i) for i in range(60000)]
        self.sort(
            [self.file("a.csv", b"h,x\n" + b"".join(rows)), self.file("b.csv", b"h,x\n3,4")],
            "--csv",
            "--header",
            "-k1,1n",
        )

    def test_csv_with_byte_order_marks(self):
        rows = b"".join(b'"a\n%d",%d\n' % (i, i * 7919 % 9973) for i in range(9000))
        mark, more = b"\xef\xbb\xbf", b'"b\n1",5\n'
        for names, other in ((b"", b""), (b'"x y",n\n', b"x y,n\r\n")):
            header = ["--header"] * bool(names)
            for first, second in ((mark, mark), (mark, b""), (b"", mark)):
                a = self.file("a", first + names + rows)
                b = self.file("b", second + other + more)
                for options in (["-k2,2n"], ["-k2,2n", "-u"], ["-k2,2n", "-u", "--count"]):
                    with self.subTest((first, header, options)):
                        self.sort([a, b], "--csv", *header, *options)
                for left, right in ((a, b), (b, a)):
                    begin = mark if Path(left).read_bytes().startswith(mark) else b""
                    words = ["-S1M", "--ranges=3", "--overwrite", "--csv", *header, "-12", "-22"]
                    words += ["-o", self.out, left, "--", right]
                    self.assertEqual(self.command("join", *words), (0, ""))
                    got = self.result()
                    marks = (got.count(mark), got.startswith(mark))
                    self.assertEqual(marks, (len(begin) // 3, bool(begin)))
                    self.assertIn(b'"a\n', got)

    def test_headers_that_differ(self):
        a = self.file("a", b"id,name\n1,x\n")
        for data, because in (
            (b"id,other\n", "column 2 is 'other', not 'name'"),
            (b"id\n", "column 2 is none, not 'name'"),
            (b"id,name,z\n", "column 3 is 'z', not none"),
        ):
            words = ("sort", "--csv", "--header", "-o", self.out, a, self.file("b", data))
            status, said = self.command(*words)
            self.assertEqual((status, said.count("\n")), (2, 1), said)
            self.assertIn(f"b: its header differs from that of {a}: {because}", said)

    def test_binary_and_zero_terminated_records(self):
        data = random.Random(4).randbytes(16 * 90000)
        self.sort([self.file("a", data)], "--record-size=16", "--bkey=3:4:u32le")
        self.sort([self.file("z", lines(60000).replace(b"\n", b"\0"))], "-z", "-n")

    def test_records_longer_than_a_piece(self):
        data = lines(3000) + b"y" * 900_000 + b"\n" + lines(3000, 2) + b"z" * 700_000
        self.sort([self.file("a", data)])

    def test_blocks_are_merged_on_their_nodes(self):
        files = [self.file(f"in{i}", lines(40000, i)) for i in range(2)]
        for options in (["-t|", "-k1,1n", "-s"], ["-u"]):
            report = self.sort(files, *options, own=("-S1M", "--ranges=7", "--group=4"))
            self.assertEqual(
                [s["stage"] for s in report["stages"]], ["sample", "map", "merge", "reduce"]
            )

    def test_a_huge_group_is_merged_in_files(self):
        data = b"".join(b"same|%d\n" % i for i in range(900000)) + lines(9000)
        with mock.patch.object(plan, "STORE_SHARE", 64):
            report = self.sort(
                [self.file("a", data)], "-t|", "-k1,1", "-s", own=("-S1M", "--ranges=64")
            )
        self.assertGreater(report["result"]["ranges_in_files"], 0)
        self.assertEqual(len(list(self.out.iterdir())), 64)

    def test_the_report_adds_up(self):
        report = self.sort([self.file("a", lines(30000))])
        self.assertEqual(report["schema"], "spindle.ray/1")
        self.assertEqual(report["config"]["nodes"], 3)
        self.assertEqual(report["result"]["records"], 30000)
        self.assertEqual(report["result"]["input_bytes"], report["moved_bytes"])

    def test_reports_fit_their_schema(self):
        if subprocess.run(["python3", "-c", "import jsonschema"], capture_output=True).returncode:
            self.skipTest("needs jsonschema")
        data = [self.file("a", lines(9000))]
        for own in (("-S1M", "--ranges=5"), ("-S1M", "--ranges=7", "--group=4")):
            name = self.file("report", json.dumps(self.sort(data, own=own)).encode())
            subprocess.run(["python3", FITS_SCHEMA, name], check=True)

    def test_a_dry_run_prints_the_plan(self):
        status, said = self.command(
            "sort", "-S64M", "-o", self.out, "--dry-run", self.file("a", lines(99))
        )
        self.assertEqual(status, 0)
        self.assertIn("tasks at once 3, memory 3 x 64.0 MiB + object store", said)
        self.assertFalse(self.out.exists())


class Join(Base):
    """The records of the result are those of xjoin, in the order of the ranges."""

    def setUp(self):
        super().setUp()
        r = random.Random(5)

        def side(n, seed, form):
            r.seed(seed)
            return b"".join(form % (r.randrange(3000), r.randrange(999)) for _ in range(n))

        self.side = side

    def join(self, left, right, *options, header=False):
        stats = self.folder / "stats"
        own = ("-S1M", "--ranges=6", "--overwrite", "-o", self.out, f"--stats={stats}")
        words = ("join", *own, *options)
        status, said = self.command(*words, *left, "--", *right)
        self.assertEqual(status, 0, said)
        whole = []
        for name, files in (("l", left), ("r", right)):
            data = b"".join(
                Path(f).read_bytes().split(b"\n", 1)[-1] if header and i else Path(f).read_bytes()
                for i, f in enumerate(files)
            )
            whole.append(self.file(name, data))
        options = [o.replace("--columns=", "-o") for o in options]
        want = subprocess.run([XJOIN, *options, *whole], check=True, capture_output=True).stdout
        got = self.result()
        if header:
            self.assertEqual(got.split(b"\n", 1)[0], want.split(b"\n", 1)[0])
        self.assertTrue(got, "no pairs: nothing is tested")
        self.assertEqual(sorted(got.splitlines()), sorted(want.splitlines()), options)
        return json.loads(stats.read_text())

    def test_a_small_side_is_read_by_every_task(self):
        large = [self.file(f"l{i}", self.side(9000, i, b"%d|a%d\n")) for i in range(2)]
        os.truncate(large[1], os.path.getsize(large[1]) - 1)
        small = [self.file("r", self.side(300, 7, b"%d|b%d\n"))]
        for left, right, options, stages in (
            (large, small, [], ["join"]),
            (large, small, ["--type=left"], ["join"]),
            (large, small, ["-a2"], ["map", "join"]),
            (small, large, ["-v2"], ["join"]),
            (small, large, ["--type=semi"], ["map", "join"]),
            (large, large, [], ["map", "join"]),
        ):
            with self.subTest(options):
                report = self.join(left, right, "-t|", *options)
                self.assertEqual([s["stage"] for s in report["stages"]], stages)
                parts = [p.stat().st_size for p in self.out.iterdir()]
                self.assertEqual((len(parts), sum(map(bool, parts)) > 1), (6, True))

    def test_lines(self):
        left = [self.file(f"l{i}", self.side(9000, i, b"%d|a%d\n")) for i in range(2)]
        right = [self.file("r0", self.side(4000, 7, b"%03d|b%d\n")), self.file("r1", b"")]
        swapped = [self.file("s0", self.side(4000, 8, b"x|%d|b%d\n"))]
        for files, options in (
            (right, ["-t|"]),
            (swapped, ["-t|", "-1", "1", "-2", "2"]),
            (right, ["-t|", "-j", "1n"]),
            (right, ["-t|", "--type=full", "-e-", "--columns=0,1.2,2.2"]),
            (right, ["-t|", "-v", "1"]),
            (swapped, ["-t|", "-2", "2", "--type=semi"]),
        ):
            with self.subTest(options):
                self.join(left, files, *options)

    def test_blanks_and_case(self):
        left = self.file("a", self.side(5000, 1, b"  K%d  %d\n"))
        right = self.file("b", self.side(5000, 2, b"x  k%d %d\n"))
        self.join([left], [right], "-1", "1", "-2", "2", "-i")

    def test_several_fields(self):
        left = self.file("a", self.side(9000, 1, b"%d|%d|a\n"))
        right = self.file("b", self.side(200000, 2, b"%d|z|%d\n"))
        self.join([left], [right], "-t|", "-1", "1n,2", "-2", "1n,3")

    def test_csv_with_headers(self):
        row = b'"k""%d",%d\n'
        left = [self.file(f"a{i}", b"k,a\n" + self.side(5000, i, row)) for i in range(2)]
        right = [self.file("b", b"v,k\n" + self.side(5000, 9, b'x,"k""%d"\n#%d,z\n'))]
        self.join(left, right, "--csv", "--header", "-1", "1", "-2", "2", header=True)
        few = [self.file("c", b"v,k\n" + self.side(99, 9, b'x,"k""%d"\n#%d,z\n'))]
        report = self.join(left, few, "--csv", "--header", "-1", "1", "-2", "2", header=True)
        self.assertEqual([s["stage"] for s in report["stages"]], ["join"])
        words = ("-1", "k", "-2", "k", "--columns=2.v,0,1.a")
        self.join(left, right, "--csv", "--header", *words, header=True)

    def test_headers_of_files_without_other_records(self):
        row = self.side(900, 1, b"%d|%d\n")
        some = self.file("some", b"k|v\n" + row)
        for data in (b"", b"k|a", b"k|a\n"):
            none = self.file("none", data)
            for files, option in (((none, some), "-a2"), ((some, none), "-a1")):
                with self.subTest((data, option)):
                    self.join(*([f] for f in files), "-t|", "--header", option, header=True)

    def test_binary_records(self):
        r = random.Random(3)
        left = b"".join(struct.pack("<IQ", r.randrange(9999), i) for i in range(40000))
        right = b"".join(struct.pack("<QI", i, r.randrange(9999)) for i in range(9000))
        a, b = self.file("a", left), self.file("b", right)
        options = ["--record-size=12", "--bkey=0:4:u32le,8:4:i32le"]
        words = ["join", "-S1M", "--ranges=5", *options, "-o", str(self.out), a, "--", b]
        self.assertEqual(self.command(*words)[0], 0)
        want = subprocess.run([XJOIN, *options, a, b], check=True, capture_output=True).stdout

        def records(data):
            return sorted(data[i : i + 24] for i in range(0, len(data), 24))

        self.assertEqual(records(self.result()), records(want))

    def test_what_cannot_be(self):
        a = self.file("a", b"1\n")
        for words, because in (
            (["--header", "-1", "1", "-2", "n", a, "--", a], "a: the header has no column 'n'"),
            ([a], "files of both sides"),
            (["-1", "name", a, "--", a], "invalid field number: 'name'"),
            (["-1", "1,2", "-2", "1", a, "--", a], "different numbers of fields"),
            (["--group=2", a, "--", a], "--group is for sorts"),
            (["--header=2", a, "--", a], "--header takes no argument in a join"),
            (["--columns=auto", a, "--", a], "--columns=auto needs --header"),
            (["--volume=sim:tiny", a, "--", a], "not possible on more than one machine"),
        ):
            status, said = self.command("join", "-o", self.out, *words)
            self.assertEqual((status, said.count("\n")), (2, 1), said)
            self.assertIn(because, said)

    def test_lost_records_are_an_error(self):
        a = self.file("a", self.side(9000, 1, b"%d|%d\n"))
        for b in (a, self.file("b", b"1|x\n")):
            words = ["join", "-S1M", "--ranges=4", "-t|", "-o", str(self.out), a, "--", b]
            with self.assertRaisesRegex(Exception, "lost or duplicated before join, file 2"):
                job.Job(cli.work_of(cli.parsed(words)), faults.Losing).run()
            self.assertFalse(self.out.exists())

    def test_a_worker_is_killed(self):
        a = self.file("a", self.side(9000, 1, b"%d|%d\n"))
        words = ["join", "-S1M", "--ranges=4", "-t|", "-o", str(self.out), a, "--", a]
        job.Job(cli.work_of(cli.parsed(words)), faults.once(self.folder, None)).run()
        want = subprocess.run([XJOIN, "-t|", a, a], check=True, capture_output=True).stdout
        self.assertEqual(sorted(self.result().splitlines()), sorted(want.splitlines()))
        self.assertTrue((self.folder / "failed-reduce_range").exists())


class Group(Base):
    """The result has the bytes of xgroup."""

    ALL = (
        "count(), sum(x), mean(x), min(x), max(x), first(x), last(x), distinct(x), median(x)",
        "p99(x), var(x), stddev(n), mode(n), list(x), corr(n, x), slope(n, x), r2(n, x)",
    )

    def rows(self, n, seed=1):
        r = random.Random(seed)
        keys = [f"{r.choice('aAbB')}{r.randrange(300)}" for _ in range(200)]
        numbers = ("", "1e-12", "2.5e30", *(f"{r.uniform(-99, 99):.{i}f}" for i in range(9)))
        return "".join(
            f"{r.choice(keys)},{r.randrange(50)},{r.choice(numbers)}\n" for _ in range(n)
        ).encode()

    def group(self, inputs, *options, own=("-S1M", "--ranges=5")):
        stats = self.folder / "stats"
        status, said = self.command(
            "group", *own, *options, "--overwrite", "-o", self.out, f"--stats={stats}", *inputs
        )
        self.assertEqual((status, said.count("spindle-ray:")), (0, 0), said)
        done = subprocess.run([XGROUP, *options, *inputs], check=True, capture_output=True)
        self.assertTrue(self.result() == done.stdout, f"{options}: not the bytes of xgroup")
        return json.loads(stats.read_text())

    def test_lines(self):
        files = [self.file(f"in{i}", self.rows(20000, i)) for i in range(2)]
        files += [self.file("open", self.rows(9000, 7)[:-1]), self.file("none", b""), files[0]]
        for options in (
            ["-k1", "--agg", self.ALL[0].replace("x", "3").replace("ma3", "max")],
            ["-k1:f", "-k2nr", "--agg=sum(3) as s, first(1)", "--having=s > 0"],
            ["-k", "$2 % 7 as m", "--where=$3 > 0", "--format=json"],
            ["-k1", "--largest=2", "-k3gr"],
            ["--agg=sum(3), median(2), list(2)"],
            ["-k3", "--null=1e-12", "--agg=count(3)"],
        ):
            with self.subTest(options):
                self.group(files, "-t,", *options)
        self.group(files, "--field-separator=,", "--key=1", "--agg=max(2)", "--order=key")

    def test_csv_with_headers(self):
        names = b"key,n,x\n"
        quoted = b'"two\nlines",1,2\n\n"a ""b""",2,\n'
        files = [
            self.file("a", names + self.rows(20000, 1) + quoted),
            self.file("b", b"\xef\xbb\xbf" + names + self.rows(5000, 2)[:-1]),
            self.file("c", names),
        ]
        for agg in self.ALL:
            self.group(files, "--csv", "--header", "-k", "key", "--agg", agg)
        self.group(files, "--csv", "--header", "-k", "key:r", "-k", "floor(n / 10)", "-a", "sum(x)")
        self.group(files, "--csv", "--header", "-k", "n:n", "--largest=3", "-k", "key")
        self.group(files[1:], "--csv", "--header", "-k", "key", "--where=n = -1")
        self.group([files[2]], "--csv", "--header", "--agg=sum(x)")

    def test_other_formats(self):
        zero = self.file("z", self.rows(9000).replace(b"\n", b"\0"))
        self.group([zero], "-z", "-t,", "-k2n", "--agg=sum(3)")
        blanks = self.file("b", self.rows(9000).replace(b",", b"  "))
        self.group([blanks], "-k2", "-k1")
        text = self.file("t", self.rows(30000).replace(b",", b";"))
        self.group([text], "--csv", "-t;", "-k2", "--agg=max(3)")
        tabs = self.file("u", b"k\tn\n" + self.rows(30000).replace(b",", b"\t"))
        self.group([tabs], "-t\\t", "--header", "-k", "k", "--agg=sum(n)")
        wide = self.file("w", b"".join(b"%d,%s\n" % (i % 9, b"x" * 300000) for i in range(30)))
        self.group([wide], "-t,", "-k1", "--agg=distinct(2), first(2)")

    def test_lines_of_json(self):
        r = random.Random(6)
        values = ["1", "1.0", '"1"', "null", "[1, 2]", '"x y"', "true"]
        text = "".join('{"k":%s,"v":{"n":%d}}\n' % (r.choice(values), i) for i in range(30000))
        a = self.file("a", text.encode())
        self.group([a], "--json", "-k", ".k", "--agg=sum(.v.n), count()")
        self.group([a], "--json", "-k", ".k", "--agg=max(.v.n)", "--format=csv")
        self.group([a], "--json", "-k", ".k", "--largest=2", "-k", ".v.n:nr")

    def test_nothing_is_grouped(self):
        for options in ([], ["-k1"], ["--agg=sum(1), count()"]):
            self.group([self.file("a", b""), self.file("b", b"")], "-t,", *options)

    def test_skewed_keys(self):
        same = b"same,1,2\n" * 60000
        report = self.group(
            [self.file("a", same + self.rows(3000))], "-t,", "-k1", "--agg=sum(2), list(3)"
        )
        self.assertLessEqual(report["config"]["ranges"], 5)

    def test_the_report_adds_up(self):
        data = self.rows(40000)
        report = self.group([self.file("a", data)], "-t,", "-k1", "--agg=sum(3)")
        self.assertEqual(report["tool"], "spindle-ray group")
        result = report["result"]
        self.assertEqual((result["input_records"], result["input_bytes"]), (40000, len(data)))
        self.assertEqual(result["records"], self.result().count(b"\n"))
        self.assertLess(report["moved_bytes"], len(data) / 4)
        known = subprocess.run(["python3", "-c", "import jsonschema"], capture_output=True)
        if not known.returncode:
            name = self.file("report", json.dumps(report).encode())
            subprocess.run(["python3", FITS_SCHEMA, name], check=True)

    def test_wrong_values_name_their_line(self):
        data = self.rows(30000).splitlines(True)
        for at, header in ((29000, []), (0, []), (15000, ["--header"])):
            bad = list(data)
            bad[at] = b"a,none,1\n"
            a = self.file("a", b"".join([b"key,n,x\n"] * len(header) + bad))
            words = ("group", "-S1M", "--ranges=3", "-t,", "-k1", "--agg=sum(2)", *header)
            status, said = self.command(*words, "-o", self.out, a)
            self.assertEqual((status, said.count("\n")), (2, 1), said)
            self.assertIn(f"a: line {at + 1 + len(header)}: sum(", said)
            self.assertFalse(self.out.exists())

    def test_blank_lines(self):
        data = self.rows(20000).splitlines(True)
        some = b"".join(line + b"\n" * (i % 50 == 0) for i, line in enumerate(data))
        self.group([self.file("a", some)], "-t,", "-k1", "--agg=count(), first(2)")
        a = self.file("a", b"one\n" + some)
        status, said = self.command("group", "-S1M", "-t,", "-k1", "--overwrite", "-o", self.out, a)
        self.assertEqual(status, 2)
        self.assertIn("a: blank lines, and records of one column and of several", said)

    def test_what_cannot_be(self):
        a = self.file("a", b"k,n\n1,2\n")
        for words, because in (
            (["--order=first", a], "--order is not possible on more than one machine"),
            (["--limit=3", a], "--limit is not possible on more than one machine"),
            (["--group=2", a], "--group is for sorts"),
            (["--header=2", a], "--header takes no argument in a grouping"),
            (["--csv", "--header", "-k", "m", a], "no column has the name 'm'"),
            (["--agg=su(1)", a], "there is no function 'su'"),
            (["--where=$1 >", a], "missing at the end of '$1 >'"),
            (["--csv", "--header", "-k", "k", "--having=q > 1", a], "no column 'q'"),
            (["--csv", "-z", a], "'--csv' and '-z' are incompatible"),
            (["-t,,", a], "tab"),
            ([], "no files to group"),
        ):
            with self.subTest(words):
                status, said = self.command("group", "-o", self.out, *words)
                self.assertEqual((status, said.count("\n")), (2, 1), said)
                self.assertIn(because, said)
                self.assertFalse(self.out.exists())

    def faulty(self, stages):
        a = self.file("a", self.rows(30000))
        words = ["group", "-S1M", "--ranges=4", "-t,", "-k1", "--agg=sum(3), mode(2)"]
        command = [*words, "-o", str(self.out), a]
        job.Job(cli.work_of(cli.parsed(command)), stages).run()
        want = subprocess.run([XGROUP, *words[3:], a], check=True, capture_output=True).stdout
        self.assertTrue(self.result() == want)

    def test_tasks_fail_or_are_killed_in_each_stage(self):
        for error in RuntimeError("once"), None:
            self.faulty(faults.once(self.folder, error))
            found = list(self.folder.glob("failed-*"))
            self.assertEqual(len(found), 3)
            for path in [*found, *self.out.iterdir()]:
                path.unlink()

    def test_lost_totals_are_an_error(self):
        for stages, reason in (
            (faults.LosingTotals, "lost or duplicated before group"),
            (faults.LosingGroups, "lost or duplicated before the result"),
            (faults.Misplacing, "groups lie beyond its borders"),
        ):
            with self.assertRaises(Exception) as e:
                self.faulty(stages)
            self.assertIn(reason, cli.reason_of(e.exception))
            self.assertFalse(self.out.exists())


class Refusals(Base):
    def refused(self, *words, because):
        status, said = self.command(*words)
        self.assertEqual(status, 2, said)
        self.assertEqual(said.count("\n"), 1, said)
        self.assertIn(because, said)
        self.assertEqual([p for p in self.folder.iterdir() if "spindle-ray" in p.name], [])

    def test_options_that_cannot_be(self):
        a = self.file("a", b"1\n")
        for option in (
            "-c",
            "-C",
            "-m",
            "--limit=3",
            "--split=f",
            "--resume=d",
            "--volume=sim:tiny",
            "-R",
        ):
            with self.subTest(option):
                self.refused(
                    "sort",
                    "-o",
                    self.out,
                    option,
                    a,
                    because="not possible on more than one machine: ",
                )
        self.refused("sort", "-o", self.out, "-k0", a, because="field number is zero")
        self.refused("sort", "-o", self.out, "-k1,1R", a, because="a key with R is not possible")
        self.refused("sort", a, because="-o/--output")
        self.refused("sort", "-o", self.out, because="no files")
        self.refused("sort", "-o", self.out, "--count", a, because="--count needs --unique")
        self.assertFalse(self.out.exists())

    def test_a_report_that_cannot_be_written(self):
        a, report = self.file("a", b"1\n"), self.folder / "none" / "r"
        self.refused("sort", f"--stats={report}", "-o", self.out, a, because=f"{report}: No such")
        self.assertFalse(self.out.exists())

    def test_a_report_over_an_input(self):
        a = self.file("a", b"2\n1\n")
        other, link = self.folder / "other", self.folder / "link"
        os.link(a, other)
        link.symlink_to("other")
        for name in (a, other, link):
            for words in ((a,), (self.file("b", b""), a)):
                self.refused("sort", f"--stats={name}", "-o", self.out, *words, because="--stats")
            words = ("-o", self.out, self.file("b", b""), "--", a)
            self.refused("join", f"--stats={name}", *words, because="and the file of --stats")
        self.assertEqual(Path(a).read_bytes(), b"2\n1\n")
        self.out.mkdir()
        self.refused("sort", f"--stats={self.out}/r", "-o", self.out, a, because="which the result")

    def test_a_report_is_written_beside(self):
        a, report = self.file("a", b"2\n1\n"), self.file("r", b"old")
        os.link(a, self.folder / "data")
        (self.folder / "link").symlink_to("r")
        link = f"--stats={self.folder}/link"
        self.refused("sort", link, "-o", a, a, because="not a folder")
        status, said = self.command("sort", link, "-o", self.out, "--csv", self.file("q", b'"'))
        self.assertEqual(status, 2, said)
        self.assertEqual(Path(report).read_bytes(), b"old")
        before = os.stat(report).st_ino
        self.assertEqual(self.command("sort", link, "-S1M", "-o", self.out, a)[0], 0)
        self.assertEqual(json.loads(Path(report).read_text())["schema"], "spindle.ray/1")
        self.assertNotEqual(os.stat(report).st_ino, before)
        self.assertTrue((self.folder / "link").is_symlink())

    def test_options_that_could_not_take_effect(self):
        a = self.file("a", b"1\n")
        for words in (("--address=x", "--object-store-memory"), ("--dry-run", "--stats")):
            given = words[0], words[1] + "=1G"
            self.refused("sort", *given, "-o", self.out, a, because=f"{words[1]} is of a")

    def test_names_in_messages_are_printable(self):
        for name in ("\x1b[31m", "a\nb", "\u202e", os.fsdecode(b"\xff")):
            status, said = self.command("sort", "-o", self.out, self.folder / name)
            self.assertEqual((status, said.count("\n")), (2, 1))
            self.assertTrue(said[:-1].isprintable(), repr(said))
            a = self.file(name, b"12345")
            status, said = self.command("sort", "--record-size=4", "-o", self.out, a)
            self.assertEqual((status, said[:-1].isprintable()), (2, True), repr(said))

    def test_folders_of_others(self):
        a = self.file("a", b"1\n")
        self.out.mkdir()
        self.out.chmod(0o777)
        self.refused("sort", "-o", self.out, a, because=f"{self.out}: every user can write to it")
        self.out.chmod(0o755)
        with mock.patch("os.geteuid", lambda: os.getuid() + 1):
            self.refused("sort", "-o", self.out, a, because="belongs to another user")

    def test_a_folder_that_is_not_empty(self):
        a = self.file("a", b"2\n1\n")
        self.out.mkdir()
        (self.out / "mine").write_text("kept")
        self.refused("sort", "-o", self.out, a, because="not empty; --overwrite replaces it")
        self.refused("sort", "-o", a, a, because="not a folder")
        self.assertEqual((self.out / "mine").read_text(), "kept")
        self.sort([a], own=("-S1M",))
        self.assertFalse((self.out / "mine").exists())

    def test_files_that_are_wrong(self):
        a = self.file("a", b"12345")
        self.refused("sort", "-o", self.out, self.folder / "none", because="No such file")
        self.refused("sort", "-o", self.out, self.folder, because="not a regular file")
        self.refused(
            "sort", "-o", self.out, "--record-size=4", a, because=f"{a}: length is not a multiple"
        )
        self.refused(
            "sort",
            "-o",
            self.out,
            "--csv",
            self.file("q", b'1\n"a\n'),
            because="q: line 2: a quoted field",
        )
        self.refused(
            "sort", "-o", self.out, "--header", a, self.file("h", b"x\n"), because="header differs"
        )
        self.refused(
            "sort",
            "-o",
            self.out,
            "--csv",
            "--header",
            self.file("o", b'"x\n'),
            because="the last record is not whole",
        )
        self.assertFalse(self.out.exists())

    def test_a_machine_that_cannot_take_part(self):
        a = self.file("a", b"1\n")
        with faults.other_version():
            self.refused("sort", "-o", self.out, a, because="not 9.9")
        with faults.no_library(cluster, STORE):
            self.refused("sort", "-o", self.out, a, because="no spindle-io there")

    def test_no_permission_on_one_node(self):
        a, b = self.file("a", b"1\n"), self.file("b", b"1\n")
        for path, because in (
            (b, f"{b}: Permission denied there"),
            (self.folder / ".out.", f"{self.out}: Permission denied there"),
        ):
            with faults.no_permission(cluster, STORE, path):
                self.refused("sort", "-o", self.out, a, b, because=because)
                self.refused("join", "-o", self.out, a, "--", b, because=because)
        self.assertFalse(self.out.exists())

    def test_another_file_on_one_node(self):
        a, b = self.file("a", b"1\n"), self.file("b", b"1\n")
        words = ("sort", "-o", self.out, a, b), ("join", "-o", self.out, a, "--", b)
        with faults.another(cluster, STORE, b):
            for data, because in ((b"12\n", "size 3, not 2"), (b"2\n", "--copies")):
                other = self.file("b.other", data)
                os.utime(other, ns=(0, os.stat(b).st_mtime_ns))
                for command in words:
                    self.refused(*command, because=f"{b}: is not the file that the command saw: ")
                    self.refused(*command, because=because)
            self.assertFalse(self.out.exists())
            for command, *more in words:
                self.assertEqual(self.command(command, "--copies", "--overwrite", *more), (0, ""))

    def test_a_task_names_its_node(self):
        a = self.file("a", b"1\n")
        work = cli.work_of(cli.parsed(["sort", "-o", str(self.out), a]))
        made = plan.make(work, job.machine())
        os.utime(a, ns=(0, 0))
        for function, *args in ((tasks.sample, work), (tasks.map_piece, made.pieces[0], made.work)):
            with self.assertRaisesRegex(Exception, "a: is not the .*: on node [0-9a-f]{12}, t"):
                ray.get(job.remote(function).remote(*args))

    def test_no_temporary_folder_on_one_node(self):
        a, tmp = self.file("a", b"1\n"), self.folder / "tmp"
        tmp.mkdir()
        with faults.no_permission(cluster, STORE, tmp):
            self.refused("sort", "-T", tmp, "-o", self.out, a, because=f"{tmp}: Permission denied")
        self.refused("sort", "-T", self.out, "-o", self.out, a, because=f"{self.out}: No such file")
        self.assertFalse(self.out.exists())

    def test_a_disk_that_is_full_on_one_node(self):
        a = self.file("a", lines(200000))
        own = ("-S1M", "--ranges=12", "-o", self.out)
        with (
            faults.full(cluster, STORE),
            mock.patch.object(tasks, "reduce_range", faults.slow()),
        ):
            for words in (("sort", *own, a), ("join", "-t|", "--header", *own, a, "--", a)):
                self.refused(*words, because="File too large")
        self.assertFalse(self.out.exists())

    def faulty(self, inputs, stages, *options):
        words = ["sort", "-S1M", "--ranges=5", *options, "-o", str(self.out), *inputs]
        return job.Job(cli.work_of(cli.parsed(words)), stages).run()

class Faults(Base):
    def setUp(self):
        super().setUp()
        self.files = [self.file(f"in{i}", lines(20000, i)) for i in range(3)]
        self.want = subprocess.run([XSORT, *self.files], check=True, capture_output=True).stdout

    def run_with(self, stages, *options):
        Refusals.faulty(self, self.files, stages, *options)
        self.assertTrue(self.result() == self.want)

    def test_a_task_fails_once_in_each_stage(self):
        self.run_with(faults.once(self.folder, RuntimeError("once")), "--group=4")
        self.assertEqual(len(list(self.folder.glob("failed-*"))), 4)

    def test_a_worker_is_killed_in_each_stage(self):
        self.run_with(faults.once(self.folder, None), "--group=4")
        self.assertEqual(len(list(self.folder.glob("failed-*"))), 4)

    def test_lost_and_doubled_records_are_errors(self):
        for fault in (faults.Losing, faults.Doubling):
            with self.assertRaises(Exception) as e:
                self.run_with(fault)
            self.assertIn("lost or duplicated", cli.reason_of(e.exception))
            self.assertFalse(self.out.exists())

    def test_what_a_killed_task_left_is_no_part(self):
        self.run_with(faults.Leaving)
        self.assertEqual(len(list(self.out.iterdir())), 5)

    def test_parts_that_became_shorter_are_an_error(self):
        with self.assertRaisesRegex(Exception, "is not what was written: size 1, not"):
            self.run_with(faults.Truncating)
        self.assertFalse(self.out.exists())

    def test_parts_that_were_replaced_are_an_error(self):
        with self.assertRaisesRegex(Exception, "is not what was written: (inode|time)"):
            self.run_with(faults.Replacing)
        self.assertFalse(self.out.exists())

    def test_inputs_that_change_are_an_error(self):
        with self.assertRaisesRegex(Exception, "in0: is not the file that .*: time"):
            self.run_with(faults.Touching)
        self.assertFalse(self.out.exists())

    def test_a_node_is_removed_in_reduce(self):
        node = cluster.add_node(num_cpus=2, object_store_memory=STORE, node_ip_address="127.0.0.1")
        cluster.wait_for_nodes()
        gone = threading.Event()

        def remove():
            while not list(self.folder.glob("reducing-*")):
                time.sleep(0.02)
            cluster.remove_node(node, allow_graceful=False)
            gone.set()

        thread = threading.Thread(target=remove)
        thread.start()
        self.run_with(faults.slow_reduce(self.folder))
        thread.join()
        self.assertTrue(gone.is_set())

class Configuration(Base):
    def test_a_cluster_of_ones_own_gets_the_same(self):
        status, said = self.command("config")
        self.assertEqual((status, json.loads(said)), (0, cli.SPILLING))

    def test_clusters_that_run(self):
        """One is used if it is named, from any folder, and left alone if not."""
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        head = ("--head", "--block", "--node-ip-address=127.0.0.1", f"--port={port}")
        size = ("--num-cpus=2", f"--object-store-memory={STORE}", "--include-dashboard=false")
        config = f"--system-config={self.command('config')[1]}"
        ray_start = (sys.executable, "-m", "ray.scripts.scripts", "start", *head, *size, config)
        env = {**os.environ, "RAY_AUTH_MODE": "disabled"}  # whatever tokens there are
        there = self.folder / "there"
        there.mkdir()
        for name in ("a", "b"):
            (there / name).write_bytes(b"another\n")
        started = subprocess.Popen(ray_start, stdout=subprocess.DEVNULL, env=env, cwd=there)
        try:
            self.use(f"127.0.0.1:{port}", env)
        finally:
            started.terminate()
            started.wait()

    def spindle_ray(self, env, *words):
        command = (sys.executable, "-m", "spindle_io.ray.cli", *words)
        return subprocess.run(command, capture_output=True, env=env, cwd=self.folder)

    def use(self, address, env):
        a, _ = self.file("a", lines(9000)), (self.folder / "tmp").mkdir()
        self.file("b", lines(9000))
        words = ("-S1M", "--address", address, "-T", "tmp", "--overwrite", "-o", "out", "--stats=-")
        for _ in range(20):  # until it has started
            done = self.spindle_ray(env, "sort", *words, "a")
            if not done.returncode:
                break
            time.sleep(1)
        self.assertIn(b'"nodes": 1', done.stderr)
        want = subprocess.run([XSORT, a], check=True, capture_output=True).stdout
        self.assertTrue(self.result() == want)
        done = self.spindle_ray(env, "sort", *words[:-1], "--stats", "a")
        self.assertRegex(done.stderr, rb"(?m)^  nodes +1$")
        self.assertNotIn(b"{", done.stderr)
        done = self.spindle_ray(env, "sort", "-u", "--count", *words, "a")  # merged in files
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.spindle_ray(env, "join", "-t|", *words, "a", "--", "b")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn(b"another", self.result())
        own = ("-S1M", "--object-store-memory=90M", "--overwrite", "-o", "out", "a")
        for more in ({}, {"RAY_ADDRESS": address}, {"RAY_ADDRESS": "127.0.0.1:1"}):
            done = self.spindle_ray({**env, **more}, "sort", *own)
            self.assertEqual((done.returncode, done.stderr), (0, b""))

class Planning(unittest.TestCase):
    machine = plan.Machine(tuple(f"n{i}" for i in range(10)), 40, 10 << 30, 1 << 30)

    def work(self, *inputs, words=(), memory=4000, **more):
        found = {path: seen.look(path) for side in inputs for path in side}
        return plan.Work(inputs, "", (words,) * 2, (), (), memory, found, **more)

    def test_pieces_cover_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a"
            for n in (0, 1, 999, 1000, 1001):
                path.write_bytes(b"x" * n)
                made = plan.make(self.work([str(path)]), self.machine)
                self.assertEqual(sum(p.hi - p.lo for p in made.pieces), n)

    def test_records_are_read_once_wherever_pieces_end(self):
        data = b"a\n\nbb\nccc\nd"
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a"
            path.write_bytes(data)
            file = seen.look(path)
            for step in range(1, 12):
                cut = [
                    plan.Piece(str(path), 0, lo, min(lo + step, len(data)), file)
                    for lo in range(0, len(data), step)
                ]
                got = [bytes(tasks.read_piece(p, plan.Options())) for p in cut]
                self.assertEqual(b"".join(got), data + b"\n")
                self.assertTrue(all(g.endswith(b"\n") for g in got if g))

    def test_many_small_blocks_are_merged(self):
        for want, case in (
            (1, (64, 1000, 64 << 20)),  # few pieces
            (1, (1000, 64, 64 << 20)),  # large blocks
            (64, (16384, 4096, 64 << 20)),
            (223, (50000, 50000, 2 << 30)),  # large enough, but many
        ):
            self.assertEqual(plan.group_of(*case), want)

    def test_a_side_is_read_by_every_task_where_that_is_less(self):
        with tempfile.TemporaryDirectory() as folder:
            sides = [[os.path.join(folder, name)] for name in "ab"]
            for (path,), n in zip(sides, (1000, 100)):
                Path(path).write_bytes(bytes(n))
            both = (True, True)
            self.assertEqual(plan.whole_side(sides, both, 1000, 10), 1)
            self.assertEqual(plan.whole_side(sides[::-1], both, 1000, 10), 0)
            self.assertEqual(plan.whole_side(sides, (True, False), 1000, 10), 1)
            right = (False, True)
            for case in ((both, 1000, 11), (both, 130, 10), (right, 1000, 10), ((), 1000, 1)):
                self.assertIsNone(plan.whole_side(sides, *case), case)

    def test_last_records_without_terminators_are_counted(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a")
            for data, words, want in (
                (b"1", (), 2),
                (b"1\n", (), 2),
                (b"1\n", ("-z",), 3),
                (b"12", ("--record-size=2",), 2),
                (b"", (), 0),
            ):
                Path(path).write_bytes(data)
                made = plan.make(self.work([path], words=words), self.machine)
                self.assertEqual(made.bytes, (want,), (data, words))

    def test_slices_cover_all_ranges(self):
        for ranges in (1, 5, 64):
            for group in (1, 2, 7, 100):
                work = self.work((), ranges=ranges)
                made = plan.Plan(work, self.machine, (), (0,), group, 1).slices
                self.assertEqual([r for a, b in made for r in range(a, b)], list(range(ranges)))
                self.assertLessEqual(len(made), ranges)

    def test_the_borders_of_a_range_are_checked(self):
        work = self.work((), splitters=(b"b\n", b"d\n"))
        tasks.check_borders(work, 1, plan.Options(), b"b\nc\n")
        for number, block in ((0, b"a\nb\n"), (1, b"a\nc\n"), (1, b"b\nd\n"), (2, b"c\nd\n")):
            with self.assertRaises(tasks.SpindleError):
                tasks.check_borders(work, number, plan.Options(), block)

if __name__ == "__main__":
    unittest.main(testRunner=tap.Runner)
