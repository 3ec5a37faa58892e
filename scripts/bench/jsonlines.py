# SPDX-License-Identifier: MIT
"""Compares xsort, xjoin and xgroup on JSON lines with lines by position, DuckDB, Miller and jq.

    make bench-json
    ROWS='sort-string group' SIZE=300M RUNS=5 PEERS='ours duckdb' python3 scripts/bench/jsonlines.py

The records are a log of about 190 bytes each.  "position" is xsort on the same lines, by the same
bytes, found by a separator.  Ours and DuckDB have 256 MB and two threads; DuckDB gets the types
of all columns.  Miller and jq keep all records in memory.  A peer that is not there is left out,
and said to be; DuckDB is the module of DUCKDB_PYTHON (python3).

Peers alternate, and each begins another round.  The table has medians of wall time and of
processor time (user and system), which other work on the machine affects less.  Before they are
measured, all peers do each job on the first 20,000 records, and must find what Python finds.

Environment: ROWS, PEERS, SIZE (1G), RUNS (3), LIMIT (300: seconds after which a run is ended),
BENCH_DIR (build/bench), XSORT, XJOIN, XGROUP, DUCKDB_PYTHON.
Results: json.md and json.csv in BENCH_DIR.
"""

import collections
import csv
import json
import os
import random
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import time

RUNS = int(os.environ.get("RUNS") or 3)
LIMIT_S = float(os.environ.get("LIMIT") or 300)
SIZE = os.environ.get("SIZE") or "1G"
DIR = os.path.abspath(os.environ.get("BENCH_DIR") or "build/bench")
DATA, TEMP, OUT = (os.path.join(DIR, n) for n in (f"json-{SIZE}.jsonl", "json-tmp", "json.out"))
FIRST, USERS = DATA + ".first", DATA + ".users"
FIRST_RECORDS, NUSERS = 20000, 1_000_000
PEERS = ["ours", "position", "duckdb", "miller", "jq"]
ROWS = ["sort-string", "sort-number", "distinct", "join", "group"]
PEER_BYTES = 12 << 30  # of address space: jq and Miller keep all records
UNITS = {"K": 10**3, "M": 10**6, "G": 10**9}

EVENTS = ("{time: 'VARCHAR', user: 'STRUCT(id BIGINT, name VARCHAR)', level: 'VARCHAR', endpoint: 'VARCHAR', "
          "status: 'BIGINT', ms: 'DOUBLE', tags: 'JSON', ok: 'BOOLEAN', msg: 'VARCHAR'}")
SQL = {
    "sort-string": "SELECT * FROM events ORDER BY time",
    "sort-number": "SELECT * FROM events ORDER BY user.id",
    "distinct": "SELECT DISTINCT ON (endpoint) * FROM events",
    "join": "SELECT e.*, u.plan FROM events e JOIN users u ON e.user.id = u.id",
    "group": "SELECT endpoint, count(*) AS count FROM events GROUP BY endpoint",
}
DUCKDB = """
import duckdb, sys
data, users, temp, out, query, events = sys.argv[1:]
db = duckdb.connect(config={"threads": 2, "memory_limit": "256MB", "temp_directory": temp,
                            "preserve_insertion_order": False})
db.execute(f"CREATE VIEW events AS FROM read_json('{data}', format='newline_delimited', columns={events})")
db.execute(f"CREATE VIEW users AS FROM read_json('{users}', format='newline_delimited', "
           "columns={id: 'BIGINT', plan: 'VARCHAR'})")
db.execute(f"COPY ({query}) TO '{out}' (FORMAT json)")
"""
MILLER = {
    "sort-string": ["sort", "-f", "time"],
    "sort-number": ["flatten", "then", "sort", "-nf", "user.id", "then", "unflatten"],
    "distinct": ["head", "-n", "1", "-g", "endpoint"],
    "join": ["flatten", "then", "join", "-f", USERS, "-l", "id", "-r", "user.id", "-j", "user.id", "then", "unflatten"],
    "group": ["count", "-g", "endpoint"],
}
JQ = {
    "sort-string": "sort_by(.time)[]",
    "sort-number": "sort_by(.user.id)[]",
    "distinct": "unique_by(.endpoint)[]",
    "group": "group_by(.endpoint)[] | {endpoint: .[0].endpoint, count: length}",
}


def tool(name):
    return os.path.abspath(os.environ.get(name.upper()) or f"build/bin/{name}")


def say(text):
    print("bench-json: " + text, file=sys.stderr)


def make_data(size):
    if os.path.exists(DATA):
        return
    say(f"making {DATA}")
    rng, done, n = random.Random(52), 0, 0
    ends = ["/api/v1/users", "/api/v1/orders", "/login", "/static/app.js", "/search", "/cart", "/health"]
    names = ["anna", "b\u00f6ris", "chloe", "dmitri", "eve", "farid", "grace", "hugo", "ines", "j\u00f6rg"]
    texts = ["request done", "cache miss", "retry after timeout", 'said \\"no\\"', "slow query"]
    with open(DATA + ".part", "wb") as f, open(FIRST, "wb") as first:
        while done < size:
            day, s = rng.randrange(1, 29), rng.randrange(86400)
            end = rng.choice(ends) if rng.random() < .8 else f"/api/v2/items/{rng.randrange(100000)}"
            line = ('{"time":"2026-09-%02dT%02d:%02d:%02d.%03dZ","user":{"id":%d,"name":"%s"},"level":"%s",'
                    '"endpoint":"%s","status":%d,"ms":%.2f,"tags":["%s",%d],"ok":%s,"msg":"%s"}\n' % (
                        day, s // 3600, s // 60 % 60, s % 60, rng.randrange(1000), rng.randrange(NUSERS),
                        rng.choice(names), rng.choice(["info", "warn", "error", "debug"]), end,
                        rng.choice([200, 200, 301, 404, 500]), rng.expovariate(.02), rng.choice(names),
                        rng.randrange(10), rng.choice(["true", "false"]), rng.choice(texts))).encode()
            f.write(line)
            if n < FIRST_RECORDS:
                first.write(line)
            done, n = done + len(line), n + 1
    with open(USERS, "w") as f:
        for i in range(0, NUSERS, 2):
            f.write('{"id":%d,"plan":"%s"}\n' % (i, "free" if i % 3 else "paid"))
    os.rename(DATA + ".part", DATA)


def own_command(row, data):
    common = ["-S256M", "--parallel=2", "-T", TEMP, "-o", OUT]
    if row == "join":
        return [tool("xjoin"), "--json", "-S256M", "--parallel=2", "-T", TEMP, "--output", OUT,
                "-1", ".user.id", "-2", ".id", data, USERS]
    if row == "group":
        return [tool("xgroup"), "--json", "-k", ".endpoint", "--agg", "count() as count", *common, data]
    keys = {"sort-string": ["-k.time"], "sort-number": ["-k.user.id:n"], "distinct": ["-u", "-k.endpoint"]}
    return [tool("xsort"), "--json", *keys[row], *common, data]


def command(peer, row, data):
    """The argument vector, or None if the peer has no such job."""
    if peer == "ours":
        return own_command(row, data)
    if peer == "position":
        by = {"sort-string": ['-t"', "-k4,4"], "sort-number": ["-t:", "-k6,6n"]}.get(row)
        return by and [tool("xsort"), *by, "-S256M", "--parallel=2", "-T", TEMP, "-o", OUT, data]
    if peer == "duckdb":
        python = os.environ.get("DUCKDB_PYTHON") or "python3"
        return [python, "-c", DUCKDB, data, USERS, TEMP, OUT, SQL[row], EVENTS]
    if peer == "miller":
        return ["bash", "-c", 'mlr --ijson --ojsonl "${@:2}" > "$0"', OUT, "", *MILLER[row], data]
    return row in JQ and ["bash", "-c", 'jq -cs "$1" "$2" > "$0"', OUT, JQ[row], data]


def missing(peer):
    """Why a peer is not there; None: it is."""
    call = {"duckdb": [os.environ.get("DUCKDB_PYTHON") or "python3", "-c", "import duckdb"],
            "miller": ["mlr", "--version"], "jq": ["jq", "--version"]}.get(peer)
    try:
        p = call and subprocess.run(call, capture_output=True, text=True, check=False)
    except OSError as e:
        return e.strerror
    return p.stderr.strip().splitlines()[-1] if p and p.returncode else None


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (PEER_BYTES, PEER_BYTES))


def measure(call, peer):
    """Seconds of wall and processor time, or the reason if there are none."""
    shutil.rmtree(TEMP, ignore_errors=True)
    os.mkdir(TEMP)
    if os.path.exists(OUT):
        os.remove(OUT)
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    with open(os.path.join(DIR, "json.err"), "w+") as err:
        p = subprocess.Popen(call, stdout=subprocess.DEVNULL, stderr=err, start_new_session=True,
                             preexec_fn=limit_memory if peer in ("miller", "jq") else None)
        try:
            status = p.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            os.killpg(p.pid, signal.SIGKILL)
            p.wait()
            return f"over {LIMIT_S:g} s"
        seconds, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
        err.seek(0)
        text = err.read().strip()
    if status:
        say(f"{peer} failed ({status}): {text[-300:]}")
        return "failed"
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def view(row, path):
    """What must be the same in all results of a row."""
    with open(path, encoding="utf-8") as f:
        records = [json.loads(line) for line in f]
    if row == "sort-string":
        return [r["time"] for r in records]
    if row == "sort-number":
        return [r["user"]["id"] for r in records]
    if row == "distinct":
        return sorted(r["endpoint"] for r in records)
    if row == "join":
        return sorted((r["time"], r["plan"]) for r in records)
    return sorted((r["endpoint"], r["count"]) for r in records)


def wanted(row):
    """The view of the right result, by Python."""
    with open(FIRST, encoding="utf-8") as f:
        records = [json.loads(line) for line in f]
    if row.startswith("sort"):
        return sorted(r["time"] if row == "sort-string" else r["user"]["id"] for r in records)
    if row == "join":
        return sorted((r["time"], "free" if r["user"]["id"] % 3 else "paid")
                      for r in records if r["user"]["id"] % 2 == 0)
    count = collections.Counter(r["endpoint"] for r in records)
    return sorted(count) if row == "distinct" else sorted(count.items())


def is_right(peer, row):
    call = command(peer, row, FIRST)
    if not call or isinstance(measure(call, peer), str):
        return False
    if view(row, OUT) == wanted(row):
        return True
    say(f"{row}: {peer} has another result")
    return False


def run_row(row, peers):
    times = {p: [] for p in peers if command(p, row, DATA)}
    times = {p: [] if is_right(p, row) else "wrong" for p in times}
    for r in range(RUNS):
        order = list(times)
        for p in order[r % len(order):] + order[:r % len(order)]:
            if isinstance(times[p], str):
                continue
            got = measure(command(p, row, DATA), p)
            say(f"{row}: {p}: {got if isinstance(got, str) else '%.2f s, processor %.2f s' % got}")
            times[p] = got if isinstance(got, str) else times[p] + [got]
    return times


def write_results(results):
    with open(os.path.join(DIR, "json.csv"), "w", newline="") as f:
        out = csv.writer(f)
        out.writerow(["row", "peer", "wall_s", "cpu_s", "note"])
        for row, times in results.items():
            for p, t in times.items():
                for one in [("", "", t)] if isinstance(t, str) else [(*s, "") for s in t]:
                    out.writerow([row, p, *one])
    with open(os.path.join(DIR, "json.md"), "w") as f:
        f.write(f"{SIZE} of JSON lines, medians of {RUNS}: seconds of wall time, and of processor time.\n\n"
                f"| row | {' | '.join(PEERS)} |\n|---{'|---' * len(PEERS)}|\n")
        for row, times in results.items():
            cells = []
            for p in PEERS:
                t = times.get(p, "-")
                cells.append(t if isinstance(t, str) else "%.2f, %.2f" % tuple(
                    statistics.median(s[i] for s in t) for i in (0, 1)))
            f.write(f"| {row} | {' | '.join(cells)} |\n")


def main():
    rows = (os.environ.get("ROWS") or "").split() or ROWS
    peers = (os.environ.get("PEERS") or "").split() or PEERS
    unknown = [r for r in rows if r not in ROWS] + [p for p in peers if p not in PEERS]
    if unknown:
        say(f"no row or peer named {unknown[0]}")
        return 2
    os.makedirs(DIR, exist_ok=True)
    make_data(int(SIZE[:-1]) * UNITS[SIZE[-1]] if SIZE[-1] in UNITS else int(SIZE))
    for p in list(peers):
        reason = missing(p)
        if reason:
            say(f"{p} is left out: {reason}")
            peers.remove(p)
    write_results({r: run_row(r, peers) for r in rows})
    shutil.rmtree(TEMP)
    with open(os.path.join(DIR, "json.md")) as f:
        print(f.read(), end="")
    return 0


sys.exit(main())
