# SPDX-License-Identifier: MIT
"""Compares xsort and xjoin with other programs; scripts/bench/peers runs it.

Each peer does a job in a process of its own, from files to a file, at the setting that is best
for it within the row's memory: the same memory cgroup for all (version 1 or 2; page cache
counts, and gives way).  A peer that keeps a limit itself gets about three quarters of the cgroup's.
Without a cgroup only those limits hold, and the table says so.

Peers alternate, and each begins another round; before each run everything is synced and, as
root, all caches are dropped; the figure is the median of the wall time until the result is on
the device (sync).  The first result of each peer must be that of xsort or xjoin: byte for byte
where the order is given, else sorted.  "memory" is a peer that the limit ended or that said it
had too little.

The copy is what no program undercuts: cat IN > OUT; sync, and for the sorts twice in a row.
"""

import csv
import os
import shutil
import signal
import statistics
import subprocess
import sys
import time

RUNS = int(os.environ.get("RUNS") or 3)
SCALE = float(os.environ.get("BENCH_SCALE") or 1)
DIR = os.path.abspath(os.environ.get("BENCH_DIR") or "build/bench")
DATA = os.path.join(DIR, f"data-peers-{SCALE:g}")
TEMP = os.path.join(DIR, "tmp")
OUT = os.path.join(DIR, "peers.out")
BIN = os.path.dirname(sys.executable)
SORT = os.environ.get("GNU_SORT") or "sort"
LIMIT_S = float(os.environ.get("LIMIT") or 300)  # a run that takes longer is ended
MB = 1 << 20

# Columns of the tables that are joined; what comes out is the key, then the rest of both lines.
LINEITEM = ["l%d" % i for i in range(17)]  # the last one is empty
ORDERS = ["o%d" % i for i in range(10)]
JOINED = LINEITEM + ORDERS[1:]


def tool(name):
    return os.path.abspath(os.environ.get(name.upper()) or f"build/bin/{name}")


def say(text):
    print("bench-peers: " + text, file=sys.stderr)


# Jobs of the Python packages: code that sees IN, IN2, OUT, MEMORY (bytes), TEMP.

DUCKDB = """
import duckdb
db = duckdb.connect(config={"threads": 2, "memory_limit": f"{MEMORY}B", "temp_directory": TEMP,
                            "preserve_insertion_order": False})
def lines(name):
    return f"read_csv('{name}', header=false, columns={{'l': 'VARCHAR'}}, delim='\\x01', quote='', escape='', auto_detect=false)"
def table(name, columns):
    types = "{" + ", ".join(f"'{c}': 'VARCHAR'" for c in columns) + "}"
    return f"read_csv('{name}', header=false, columns={types}, delim='|', quote='', escape='', auto_detect=false)"
def write(query, delim):
    db.execute(f"COPY ({query}) TO '{OUT}' (FORMAT csv, HEADER false, DELIMITER '{delim}', QUOTE '', ESCAPE '')")
"""
POLARS = """
import os
os.environ["POLARS_MAX_THREADS"] = "2"
os.environ["POLARS_TEMP_DIR"] = TEMP
import polars as pl
def lines(name):
    return pl.scan_csv(name, has_header=False, new_columns=["l"], separator="\\x01", quote_char=None, schema={"l": pl.String})
def table(name, columns):
    return pl.scan_csv(name, has_header=False, separator="|", quote_char=None, schema={c: pl.String for c in columns})
def write(frame, separator):
    frame.sink_csv(OUT, include_header=False, separator=separator, quote_style="never", engine="streaming")
"""
CHDB = """
import chdb
from chdb import session
s = session.Session()
common = f" SETTINGS max_threads = 2, max_memory_usage = {MEMORY}, max_bytes_before_external_sort = {MEMORY // 2}, max_bytes_before_external_group_by = {MEMORY // 2}, max_bytes_ratio_before_external_sort = 0, max_bytes_ratio_before_external_group_by = 0, join_algorithm = 'grace_hash', format_csv_delimiter = '|', input_format_csv_trim_whitespaces = 0, format_csv_allow_double_quotes = 0, format_csv_allow_single_quotes = 0, format_custom_field_delimiter = '|', format_custom_escaping_rule = 'Raw'"
def table(name, columns):
    return f"file('{name}', 'CSV', '{', '.join(c + ' String' for c in columns)}')"
def run(query, form):
    s.query(f"{query} INTO OUTFILE '{OUT}' TRUNCATE FORMAT {form}" + common)
"""
DATAFUSION = """
from datafusion import SessionContext, RuntimeEnvBuilder, SessionConfig
import pyarrow
runtime = RuntimeEnvBuilder().with_disk_manager_specified(TEMP).with_fair_spill_pool(MEMORY)
ctx = SessionContext(SessionConfig().with_target_partitions(2), runtime)
def csv(name, path, columns, delimiter):
    types = ", ".join(c + " VARCHAR" for c in columns)
    ctx.sql(f"CREATE EXTERNAL TABLE {name} ({types}) STORED AS CSV LOCATION '{path}' OPTIONS ('format.has_header' 'false', 'format.delimiter' '{delimiter}', 'format.quote' '\\x02')").collect()
def write(query, delimiter):
    ctx.sql(f"COPY ({query}) TO '{OUT}' STORED AS CSV OPTIONS ('format.has_header' 'false', 'format.delimiter' '{delimiter}', 'format.quote' '\\x02', 'format.quote_style' 'Never')").collect()
"""


PACKAGES = {
    "duckdb": (DUCKDB, {
        "sort": "write(f'SELECT l FROM {lines(IN)} ORDER BY l', '\\x01')",
        "distinct": "write(f'SELECT DISTINCT l FROM {lines(IN)}', '\\x01')",
        "firsts": "db.execute('SET preserve_insertion_order = true'); write(f'SELECT l FROM (SELECT l, min(n) AS m FROM (SELECT l, row_number() OVER () AS n FROM {lines(IN)}) GROUP BY l) ORDER BY m', '\\x01')",
        "count": "write(f'SELECT count(*), l FROM {lines(IN)} GROUP BY l', '|')",
        "join": "write(JOIN(table(IN, LINEITEM), table(IN2, ORDERS)), '|')"}),
    "polars": (POLARS, {
        "sort": "write(lines(IN).sort('l'), '\\x01')",
        "distinct": "write(lines(IN).unique(), '\\x01')",
        "firsts": "write(lines(IN).unique(keep='first', maintain_order=True), '\\x01')",
        "count": "write(lines(IN).group_by('l').len().select('len', 'l'), '|')",
        "join": "write(table(IN, LINEITEM).join(table(IN2, ORDERS), left_on='l0', right_on='o0'), '|')"}),
    "chdb": (CHDB, {
        "sort": "run(f\"SELECT line FROM file('{IN}', 'LineAsString') ORDER BY line\", 'LineAsString')",
        "distinct": "run(f\"SELECT DISTINCT line FROM file('{IN}', 'LineAsString')\", 'LineAsString')",
        "count": "run(f\"SELECT concat(toString(count()), '|', line) FROM file('{IN}', 'LineAsString') GROUP BY line\", 'LineAsString')",
        "join": "run(JOIN(table(IN, LINEITEM), table(IN2, ORDERS)), 'CustomSeparated')"}),
    "datafusion": (DATAFUSION, {
        "sort": "csv('t', IN, ['l'], '\\x01'); write('SELECT l FROM t ORDER BY l', '\\x01')",
        "distinct": "csv('t', IN, ['l'], '\\x01'); write('SELECT DISTINCT l FROM t', '\\x01')",
        "count": "csv('t', IN, ['l'], '\\x01'); write('SELECT count(*), l FROM t GROUP BY l', '|')",
        "join": "csv('a', IN, LINEITEM, '|'); csv('b', IN2, ORDERS, '|'); write(JOIN('a', 'b'), '|')"}),
}


def package_command(name, job, memory, files):
    head, jobs = PACKAGES[name]
    own = memory * 3 // 4
    values = {"IN": files[0], "IN2": files[-1], "OUT": OUT, "MEMORY": own, "TEMP": TEMP,
              "LINEITEM": LINEITEM, "ORDERS": ORDERS, "JOINED": JOINED}
    text = "".join(f"{k} = {v!r}\n" for k, v in values.items())
    text += "def JOIN(a, b):\n    return f\"SELECT {', '.join(JOINED)} FROM {a} AS a JOIN {b} AS b ON l0 = o0\"\n"
    return [sys.executable, "-c", text + head + jobs[job]]


def shell(text):
    return ["bash", "-o", "pipefail", "-c", text]


def sort_of(name, memory, sorts=1):
    """GNU's or uutils' sort, with the best memory for a cgroup of this size and so many sorts."""
    program = f"{BIN}/sort" if name == "uutils" else SORT
    share = 8 if name == "uutils" else 1 + sorts  # more makes it fail or swap
    return f"{program} --parallel=2 -S {memory // share // MB}M -T {TEMP}"


def sorter_command(name, job, memory, files):
    one, sort, half = files[0], sort_of(name, memory), sort_of(name, memory, 2)
    if job == "sort":
        return shell(f"{sort} {one} -o {OUT}")
    if job == "distinct":
        return shell(f"{sort} -u {one} -o {OUT}")
    if job == "firsts":
        lines = f"cat -n {one} | {half} -u -k2"
        return shell(f"{lines} | {half} -n | cut -f2- > {OUT}") if name == "gnu" else None
    if job == "count":
        return shell(f"{sort} {one} | uniq -c | sed 's/^ *//; s/ /|/' > {OUT}")
    if name == "uutils":
        return None
    by_key = f"{half} -t '|' -k1,1"
    return shell(f"{by_key} {files[1]} > {TEMP}/two && {by_key} {one} | join -t '|' - {TEMP}/two > {OUT}")


def own_command(job, memory, files):
    if job == "join":
        return [tool("xjoin"), f"-S{memory // MB}M", "-T", TEMP, "-t", "|", "-j1", "--output", OUT, *files]
    options = {"sort": [], "distinct": ["-u"], "firsts": ["-u", "--keep-order"],
               "count": ["-u", "--count"]}[job]
    return [tool("xsort"), f"-S{memory // MB}M", "-T", TEMP, *options, "-o", OUT, files[0]]


def command(peer, job, row):
    """The argument vector, or None if the peer has no such job."""
    files = [os.path.join(DATA, f) for f in row["data"]]
    memory = row["limit"]
    if peer in PACKAGES:
        return package_command(peer, job, memory, files) if job in PACKAGES[peer][1] else None
    if peer in ("gnu", "uutils"):
        return sorter_command(peer, job, memory, files)
    if peer in ("xsort", "xjoin"):
        return own_command(job, row["own"], files) if (peer == "xjoin") == (job == "join") else None
    if peer in ("huniq", "runiq") and job == "firsts":
        return shell(f"{BIN}/{peer} < {files[0]} > {OUT}")
    if peer == "awk" and job in ("distinct", "firsts"):
        return shell(f"awk '!seen[$0]++' {files[0]} > {OUT}")
    if peer == "xan" and job == "sort":
        return shell(f"{BIN}/xan sort -n -d '|' --external -m {memory // 2 // MB} --tmp-dir {TEMP} {files[0]} -o {OUT}")
    if peer == "copy":
        return shell(f"cat {' '.join(files)} > {OUT}")
    if peer == "copy twice" and job == "sort":
        return shell(f"cat {files[0]} > {TEMP}/copy; cat {TEMP}/copy > {OUT}")
    return None


def version(peer):
    """What the peer says of itself; None: it is not there."""
    if peer in PACKAGES:
        call = [sys.executable, "-c", f"import {peer}; print({peer}.__version__)"]
    elif peer in ("copy", "copy twice"):
        return ""
    elif peer == "awk":
        call = ["sh", "-c", "awk -W version 2>/dev/null </dev/null || awk --version"]
    else:
        programs = {"gnu": SORT, "uutils": f"{BIN}/sort"}
        programs |= {name: f"{BIN}/{name}" for name in ("xan", "huniq", "runiq")}
        call = [programs.get(peer) or tool(peer), "--version"]
    try:
        text = subprocess.run(call, capture_output=True, text=True, timeout=60, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    return text.splitlines()[0].split(",")[0].split()[-1]


ROWS = {
    "records": {"job": "sort", "data": ["rec.asc"], "limit": 1024 * MB, "own": 256 * MB,
                "title": "sort of 1 GB of lines of 100 bytes"},
    "records-64M": {"job": "sort", "data": ["rec.asc"], "limit": 256 * MB, "own": 64 * MB,
                    "title": "the same in a quarter of the memory"},
    "distinct-16": {"job": "distinct", "data": ["few16"], "limit": 512 * MB, "own": 64 * MB,
                    "title": "different lines of 1 GB, 16"},
    "distinct-100k": {"job": "distinct", "data": ["few100k"], "limit": 512 * MB, "own": 64 * MB,
                      "title": "different lines of 1 GB, 100,000"},
    "firsts-100k": {"job": "firsts", "data": ["few100k"], "limit": 512 * MB, "own": 64 * MB,
                    "title": "the same, in the order of the first lines"},
    "firsts-all": {"job": "firsts", "data": ["rec.asc"], "limit": 512 * MB, "own": 64 * MB,
                   "title": "the same of 1 GB of different lines"},
    "count-100k": {"job": "count", "data": ["few100k"], "limit": 512 * MB, "own": 64 * MB,
                   "title": "how often each of 100,000 lines occurs in 1 GB"},
    "join": {"job": "join", "data": ["lineitem", "orders"], "limit": 1024 * MB, "own": 256 * MB,
             "title": "lineitem JOIN orders, both in key order"},
    "join-shuffled": {"job": "join", "data": ["shuffled", "orders"], "limit": 1024 * MB,
                      "own": 256 * MB, "title": "the same, lineitem shuffled"},
}
PEERS = ["xsort", "xjoin", "gnu", "uutils", "awk", "huniq", "runiq", "duckdb", "polars", "chdb", "datafusion", "xan",
         "copy", "copy twice"]


def make_data(name):
    path = os.path.join(DATA, name)
    if os.path.exists(path):
        return
    say(f"making {name}")
    lines = str(int(10_000_000 * SCALE))
    call = {
        "rec.asc": ["records", "-n", lines],
        "few16": ["records", "-n", lines, "--order=few", "--distinct=16"],
        "few100k": ["records", "-n", lines, "--order=few", "--distinct=100000"],
        "lineitem": ["lineitem", "--scale", str(SCALE)],
        "shuffled": ["lineitem", "--scale", str(SCALE), "--shuffle"],
        "orders": ["orders", "--scale", str(SCALE)],
    }[name]
    if name in ("lineitem", "shuffled", "orders"):
        subprocess.run([tool("xgen"), *call, "-o", path], check=True)
        return
    # Nothing that means something to readers of CSV; lines with the same key are the same.
    same = r"""| sed -E 's/^(.{10}).*/\1  """ + "0123456789abcdef" * 5 + "0123456/'" if "--order=few" in call else ""
    subprocess.run(shell(f"{tool('xgen')} {' '.join(call)} | tr '\\r\",|' x {same} > {path}"), check=True)


class Group:
    """A memory cgroup, or None of it."""

    def __init__(self):
        self.path = None
        for mount, limit in self.places():
            path = os.path.join(mount, f"spindle-peers.{os.getpid()}")
            try:
                os.mkdir(path)
                self.path, self.limit = path, limit
                return
            except OSError:
                continue

    @staticmethod
    def places():
        with open("/proc/mounts") as f:
            mounts = [line.split() for line in f]
        for m in mounts:
            if m[2] == "cgroup" and "memory" in m[3].split(","):
                yield m[1], "memory.limit_in_bytes"
            if m[2] == "cgroup2":
                yield m[1], "memory.max"

    def set(self, limit):
        if self.path:
            with open(os.path.join(self.path, self.limit), "w") as f:
                f.write(str(limit))

    def enter(self):
        if self.path:
            with open(os.path.join(self.path, "cgroup.procs"), "w") as f:
                f.write(str(os.getpid()))

    def remove(self):
        if self.path:
            os.rmdir(self.path)


def settle():
    """Nothing of the last run is left, in files or caches."""
    for path in (OUT, TEMP):
        if os.path.isdir(path):
            shutil.rmtree(path)
        elif os.path.exists(path):
            os.remove(path)
    os.mkdir(TEMP)
    os.sync()
    try:
        with open("/proc/sys/vm/drop_caches", "w") as f:
            f.write("3")
    except OSError:
        pass


def measure(call, group):
    """Seconds, or the reason if there are none."""
    settle()
    begin = time.monotonic()
    with open(os.path.join(DIR, "peers.err"), "w+") as err:
        p = subprocess.Popen(call, stdout=subprocess.DEVNULL, stderr=err, start_new_session=True,
                             preexec_fn=group.enter)
        try:
            status = p.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            os.killpg(p.pid, signal.SIGKILL)
            p.wait()
            return f"over {LIMIT_S:g} s"
        os.sync()
        seconds = time.monotonic() - begin
        if not status:
            return seconds
        err.seek(0)
        text = err.read()
    short = status in (-9, 137) or any(w in text.lower() for w in ("memory", "exhausted"))
    say(f"{call[0]} failed ({status}): {text.strip()[-300:]}")
    return "memory" if short else "failed"


def digest(job, peer):
    """Of the result: of its lines in order, or, where no order is asked for, sorted."""
    if job in ("sort", "firsts"):
        text = subprocess.run(["cksum", OUT], capture_output=True, text=True, check=True).stdout
    else:
        lines = f"sed 's/^ *//; s/ /|/' {OUT}" if (job, peer) == ("count", "xsort") else f"cat {OUT}"
        text = subprocess.run(shell(f"{lines} | {tool('xsort')} -S 512M -T {TEMP} | cksum"),
                              capture_output=True, text=True, check=True).stdout
    return text.split()[:2]


def run_row(name, row, peers, group):
    """A list of times for each peer, or the reason if there are none."""
    calls = {p: command(p, row["job"], row) for p in peers}
    calls = {p: c for p, c in calls.items() if c}
    times, right = {p: [] for p in calls}, None
    for f in row["data"]:
        make_data(f)
    group.set(row["limit"])
    for r in range(RUNS):
        order = list(calls)
        for p in order[r % len(order):] + order[:r % len(order)]:
            if not isinstance(times[p], list):
                continue
            got = measure(calls[p], group)
            say(f"{name}: {p}: {got if isinstance(got, str) else round(got, 2)}")
            times[p] = got if isinstance(got, str) else times[p] + [got]
            if r or isinstance(got, str) or p.startswith("copy"):
                continue
            sum_ = digest(row["job"], p)
            right = right or sum_
            if sum_ != right:
                say(f"{name}: {p} has another result")
                times[p] = "wrong"
    return times


def write_results(results, versions, group):
    with open(os.path.join(DIR, "peers.csv"), "w", newline="") as f:
        out = csv.writer(f)
        out.writerow(["row", "peer", "version", "median_s", "note"])
        for name, times in results.items():
            for p, t in times.items():
                note = t if isinstance(t, str) else ""
                out.writerow([name, p, versions[p], "" if note else f"{statistics.median(t):.3f}", note])
    with open(os.path.join(DIR, "peers.md"), "w") as f:
        f.write("Seconds until the result is on the device, medians of "
                f"{RUNS}; in brackets, times as long as ours.\n")
        if not group.path:
            f.write("There was no cgroup: memory is what each program keeps to.\n")
        for name, times in results.items():
            row = ROWS[name]
            own = next((t for p, t in times.items() if p in ("xsort", "xjoin")), None)
            own = statistics.median(own) if isinstance(own, list) else None
            f.write(f"\n**{row['title']}** (cgroup of {row['limit'] // MB} MB, `-S {row['own'] // MB}M`)\n\n"
                    "| program | s |\n|---|---|\n")
            for p, t in times.items():
                s = t if isinstance(t, str) else f"{statistics.median(t):.2f}"
                if own and not isinstance(t, str):
                    s += f" ({statistics.median(t) / own:.1f})"
                f.write(f"| {p} {versions[p]} | {s} |\n")


def main():
    rows = (os.environ.get("ROWS") or " ".join(ROWS)).split()
    wanted = (os.environ.get("PEERS") or "").split() or PEERS
    unknown = [r for r in rows if r not in ROWS] + [p for p in wanted if p not in PEERS]
    if unknown:
        say(f"no row or peer named {unknown[0]}")
        return 2
    os.makedirs(DATA, exist_ok=True)
    versions = {p: version(p) for p in wanted}
    for p in wanted:
        if versions[p] is None:
            say(f"{p} is left out: it is not there")
    group = Group()
    try:
        results = {r: run_row(r, ROWS[r], [p for p in wanted if versions[p] is not None], group)
                   for r in rows}
        settle()
    finally:
        group.remove()
    write_results(results, versions, group)
    with open(os.path.join(DIR, "peers.md")) as f:
        print(f.read())
    return 0


if __name__ == "__main__":
    sys.exit(main())
