# SPDX-License-Identifier: MIT
"""The jobs of scripts/bench/threads and scripts/bench/scale, and their data."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
BUILD = os.path.abspath(os.environ.get("SP_BUILD") or os.path.join(TOP, "build"))
PEERS = os.path.join(TOP, "build/peers/bin/python")  # scripts/bench/peers installs DuckDB there
LINEITEM_BYTES = 736e6  # of scale 1

# Commands that make data from others; the names of data in {braces} are files.
DATA = {
    "rec": "xgen records -n {lines} -o {rec}",
    "lineitem": "xgen lineitem --scale {scale} -o {lineitem}",
    "shuffled": "xgen lineitem --shuffle --scale {scale} -o {shuffled}",
    "orders": "xgen orders --scale {scale} -o {orders}",
    "words": "xgen lines --words 1 --bytes {size}b -o {words}",
    "ints": """awk -v n={size} 'BEGIN { srand(1); while (n > 0) {
        l = sprintf("%d", (0.1 + 0.9 * rand()) * 10 ^ (2 + int(rand() * 8))); print l; n -= length(l) + 1 } }' > {ints}""",
    # Lines with the same key are the same.
    "few": "xgen records -n {lines} --order=few --distinct=100000 | "
           "sed -E 's/^(.{10}).*/\\1  %s/' > {few}" % ("0123456789abcdef" * 5 + "0123456"),
    "sorted": "xsort -S 1G {rec} -o {sorted}",
    "parts16": "mkdir {parts16} && split -a 3 -n r/16 {sorted} {parts16}/",
    "parts1000": "mkdir {parts1000} && split -a 3 -n r/1000 {sorted} {parts1000}/",
    "frames": "split -C 4M --filter='xsort --compress-output=zstd' {rec} > {frames}",
    "csv": """awk -F'|' 'BEGIN { print "order,name,comment" }
        { printf "%s,\\"a \\"\\"%s\\"\\", %s\\",\\"%s\\"\\n", $1, $3, $15, $16 }' {shuffled} > {csv}""",
    "half": """awk -v n={lines} 'BEGIN { srand(1); for (i = 0; i < n; i++)
        printf "%010d|%088d\\n", rand() < 0.5 ? 1 : 1 + int(rand() * n / 10), i }' > {half}""",
    "keys": """awk -v n={lines} 'BEGIN { for (i = 1; i <= n / 10; i++) printf "%010d|%088d\\n", i, i }' > {keys}""",
    "table": "xtable load -t'|' {table} {lineitem}",
    "database": "{python} -c \"import duckdb; duckdb.connect('{database}').execute('''"
                "CREATE TABLE t AS SELECT * FROM read_csv(\\$\\${lineitem}\\$\\$, delim=\\$\\$|\\$\\$, header=false)''')\"",
}
# Data that other data is made from.
MADE_FROM = {"sorted": ["rec"], "parts16": ["sorted"], "parts1000": ["sorted"], "frames": ["rec"],
             "csv": ["shuffled"], "table": ["lineitem"], "database": ["lineitem"]}

LINES = "read_csv('{%s}', header=false, columns={'l': 'VARCHAR'}, delim='\x01', quote='', escape='', auto_detect=false)"
FIELDS = "read_csv('{%s}', header=false, delim='|', quote='', escape='', all_varchar=true)"
TO = "TO '{out}' (FORMAT csv, HEADER false, DELIMITER '\x01', QUOTE '', ESCAPE '')"


def ordered(data, by="l", what="l"):
    return f"COPY (SELECT {what} FROM {LINES % data} ORDER BY {by}) {TO}"


def joined(probe, build, column):
    """DuckDB's columns have names such as column00: of 17, and of 2."""
    return f"COPY (SELECT * FROM {FIELDS % probe} AS a JOIN {FIELDS % build} AS b ON a.{column[0]} = b.{column[1]}) {TO}"


def by_sorting(probe, build):
    return ("sort {half_options} -t'|' -k1,1 {%s} > $TMPDIR/two && sort {half_options} -t'|' -k1,1 {%s} | "
            "join -t'|' - $TMPDIR/two > {out}" % (build, probe))


def fill(text, values):
    """Replaces the names in {braces} that have values."""
    return re.sub(r"\{(\w+)\}", lambda m: str(values.get(m[1], m[0])), text)


class Row:
    """A job.  Commands are texts for sh; duckdb is a statement."""

    def __init__(self, title, data, ours, gnu=None, duckdb=None, memory="256M", locale="C", base=None):
        self.title, self.memory, self.locale = title, memory, locale
        self.data, self.base = data.split(), base
        self.commands = {"ours": ours, "gnu": gnu, "duckdb": duckdb}

    @property
    def piped(self):
        """Our tool is one of several programs of a pipe."""
        return "|" in self.commands["ours"].replace("'|'", "")


def sort_row(title, data, options="", sql=None, **more):
    sql = ordered(data) if sql is None else sql
    return Row(title, data, f"xsort {{options}} {options} {{{data}}} -o {{out}}",
               f"sort {{options}} {options} {{{data}}} -o {{out}}", sql or None, **more)


ROWS = {
    "sort-4G": sort_row("lines of 100 bytes, -S 4G", "rec", memory="4G"),
    "sort-256M": sort_row("lines of 100 bytes, -S 256M", "rec"),
    "sort-64M": sort_row("lines of 100 bytes, -S 64M", "rec", memory="64M"),
    "pipe": Row("lines of 100 bytes, pipe to pipe", "rec", "cat {rec} | xsort {options} | cat > {out}",
                "cat {rec} | sort {options} | cat > {out}"),
    "lineitem": sort_row("lineitem, -k2,2n", "lineitem", "-t'|' -k2,2n",
                         f"COPY (SELECT * FROM {FIELDS % 'lineitem'} ORDER BY column01::BIGINT) {TO}"),
    "ints": sort_row("integers, -n", "ints", "-n", ordered("ints", "l::BIGINT")),
    "names": sort_row("names, -f", "words", "-f", ordered("words", "upper(l), l")),
    "words": sort_row("words in en_US", "words", sql="", locale="en_US.UTF-8"),
    "unique": sort_row("-u of 100,000 keys", "few", "-u",
                       f"COPY (SELECT DISTINCT l FROM {LINES % 'few'} ORDER BY l) {TO}"),
    "count": Row("--count of 100,000 keys", "few", "xsort {options} -u --count {few} -o {out}",
                 "sort {options} {few} | uniq -c > {out}",
                 f"COPY (SELECT count(*), l FROM {LINES % 'few'} GROUP BY l ORDER BY l) {TO}"),
    "check": Row("-c", "sorted", "xsort {plain} -c {sorted}", "sort {options} -c {sorted}"),
    "merge-16": Row("-m of 16 files", "parts16", "xsort {options} -m {parts16}/* -o {out}",
                    "sort {options} -m {parts16}/* -o {out}"),
    "merge-1000": Row("-m of 1000 files", "parts1000", "xsort {options} -m {parts1000}/* -o {out}",
                      "sort {options} -m {parts1000}/* -o {out}"),
    "zstd": Row("--compress-output=zstd", "rec", "xsort {options} --compress-output=zstd {rec} -o {out}",
                "sort {options} {rec} | zstd -q -T{n} > {out}",
                f"COPY (SELECT l FROM {LINES % 'rec'} ORDER BY l) TO '{{out}}' (FORMAT csv, HEADER false, COMPRESSION zstd)"),
    "frames": Row("--decompress of many frames", "frames", "xsort {options} --decompress {frames} -o {out}",
                  "zstd -q -dc {frames} | sort {options} -o {out}",
                  ordered("frames").replace("auto_detect", "compression='zstd', auto_detect")),
    "csv": Row("CSV with quotes, two columns by name", "csv",
               "xsort {options} --csv --header -k name -k order:n {csv} -o {out}", None,
               "COPY (SELECT * FROM read_csv('{csv}') ORDER BY name, \"order\") TO '{out}' (FORMAT csv)"),
    "join": Row("join in key order", "lineitem orders", "xjoin {options} -t'|' -j1 {lineitem} {orders} --output={out}",
                by_sorting("lineitem", "orders"), joined("lineitem", "orders", ("column00", "column0"))),
    "join-shuffled": Row("join, shuffled", "shuffled orders",
                         "xjoin {options} -t'|' -j1 {shuffled} {orders} --output={out}",
                         by_sorting("shuffled", "orders"), joined("shuffled", "orders", ("column00", "column0"))),
    "join-half": Row("join, one key in half of the rows", "half keys",
                     "xjoin {options} -t'|' -j1 {half} {keys} --output={out}",
                     by_sorting("half", "keys"), joined("half", "keys", ("column0", "column0"))),
    "index": Row("xindex build", "lineitem", "xindex build {options} -t'|' -k1,1n {lineitem} -o {out}"),
    "load": Row("xtable load of lineitem", "lineitem", "xtable load {options} -t'|' {out} {lineitem}", None,
                "CREATE TABLE t AS SELECT * FROM read_csv('{lineitem}', delim='|', header=false)", base="{out}"),
    "scan-3": Row("xtable scan of 3 columns", "table database",
                  "xtable scan {options} --columns c1,c5,c6 --format=text {table} > {out}", None,
                  f"COPY (SELECT column00, column04, column05 FROM t) {TO}", base="{database}"),
    "scan-all": Row("xtable scan of all columns", "table database",
                    "xtable scan {options} --format=text {table} > {out}", None, f"COPY t {TO}", base="{database}"),
}
PROGRAMS = ("ours", "gnu", "duckdb")
DUCKDB_MEMORY = "8G"  # 16 threads need more than the rows have

DUCKDB = """import duckdb, os
db = duckdb.connect({base}, config={"threads": {n}, "memory_limit": "{memory}B", "temp_directory": os.environ["TMPDIR"], "preserve_insertion_order": {keep}})
db.execute({sql})
"""


def size_of(text):
    unit = {"K": 1000, "M": 10**6, "G": 10**9}.get(text[-1:].upper())
    return int(float(text[:-1]) * unit) if unit else int(text)


def has_duckdb():
    return os.path.exists(PEERS) and subprocess.run([PEERS, "-c", "import duckdb"], capture_output=True,
                                                    check=False).returncode == 0


class Bench:
    """A folder in memory with data; the rows are those still to be measured."""

    def __init__(self, name, folder, size, rows):
        self.name, self.size, self.rows = name, size, list(rows)
        self.own = tempfile.TemporaryDirectory(prefix=f"spindle-{name}.", dir=folder)
        self.folder = self.own.name
        self.temp, self.out, self.log = (os.path.join(self.folder, n) for n in ("tmp", "out", "tasks"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.own.cleanup()

    def say(self, text):
        print(f"{self.name}: {text}", file=sys.stderr)

    def path(self, data):
        return os.path.join(self.folder, "data-" + data)

    def values(self, row=None, n=1):
        memory = row.memory if row else "256M"
        half = f"{max(int(memory[:-1]) // 2, 1)}{memory[-1]}"
        plain = f"--parallel={n} -S {memory}"
        return {"lines": self.size // 100, "size": self.size, "scale": self.size / LINEITEM_BYTES, "n": n,
                "plain": plain, "half_options": f"--parallel={n} -S {half}", "out": self.out, "python": PEERS,
                **{d: self.path(d) for d in DATA}}

    def environment(self, locale="C"):
        return dict(os.environ, LC_ALL=locale, LOCPATH=os.path.join(TOP, "build/locale"), TMPDIR=self.temp,
                    PATH=os.path.join(BUILD, "bin") + ":" + os.environ["PATH"])

    def command(self, row, program, n):
        """The text for sh, or None."""
        text = row.commands[program]
        values = self.values(row, n)
        trace = f" --trace-tasks={self.log}" if program == "ours" else ""
        values["options"] = values["plain"] + trace
        if text and program == "duckdb":
            values.update(sql=repr(fill(text, values)), base=repr(fill(row.base or ":memory:", values)),
                          memory=DUCKDB_MEMORY, keep="ORDER BY" in text)
            code = fill(DUCKDB, values)
            return f"exec {PEERS} - <<'EOF'\n{code}\nEOF"
        return text and fill(text, values)

    def make(self, data):
        if os.path.exists(self.path(data)):
            return
        for other in MADE_FROM.get(data, ()):
            self.make(other)
        self.say(f"making {data}")
        self.settle()
        subprocess.run(["sh", "-c", fill(DATA[data], self.values())], env=self.environment(), check=True,
                       stdout=subprocess.DEVNULL)

    def prepare(self, row, programs):
        for data in row.data:
            if data != "database" or "duckdb" in programs:
                self.make(data)

    def settle(self):
        """Removes the results of the last run."""
        for path in (self.out, self.temp, self.log):
            if os.path.isdir(path):
                shutil.rmtree(path)
            elif os.path.exists(path):
                os.remove(path)
        os.mkdir(self.temp)

    def done(self, row):
        """Removes data that no later row needs."""
        self.rows.remove(row)
        needed = {d for r in self.rows for d in r.data}
        for _ in DATA:
            needed |= {m for d in needed for m in MADE_FROM.get(d, ())}
        for data in DATA:
            path = self.path(data)
            if data not in needed and os.path.isdir(path):
                shutil.rmtree(path)
            elif data not in needed and os.path.exists(path):
                os.remove(path)


def arguments(parser, runs):
    """The options of both scripts, and the default of --runs; returns the arguments, with rows."""
    parser.add_argument("row", nargs="*", help="rows (all); --list names them")
    parser.add_argument("--size", type=size_of, default=10**9, help="bytes of input (1G)")
    parser.add_argument("--folder", default="/dev/shm", help="folder for data and results (/dev/shm)")
    parser.add_argument("--runs", type=int, default=runs, help=f"runs, of which the fastest counts ({runs})")
    parser.add_argument("--list", action="store_true", help="print the names of the rows")
    args = parser.parse_args()
    unknown = [r for r in args.row if r not in ROWS]
    if unknown:
        parser.error(f"no row is named {unknown[0]}; --list prints the names")
    if args.list:
        for name, row in ROWS.items():
            print(f"{name:14} {row.title}")
        sys.exit()
    args.rows = {name: ROWS[name] for name in args.row or ROWS}
    return args
