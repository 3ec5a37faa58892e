# SPDX-License-Identifier: MIT
"""Compares xtable with other formats and databases; scripts/bench/table runs it.

Two tables: R, 8 million records of 15 random f64 (0.96 GB), and lineitem of scale 1 (760 MB of
text).  Each program keeps them in its own best form, made once.  Every job is a process of its
own.  Before each run everything is synced and, as root, all caches are dropped, except for the
jobs of one record, where programs and libraries stay cached.  Jobs of a row alternate, and each
begins another round; a figure is the median of the wall time, for jobs that write until the
result is on the device (sync).  Each process tells its largest resident set, and the bytes it
read from devices, its program and libraries included.

A job prints its answer (a count and a sum), and all jobs of a row must agree to 12 digits.

"bare" repeats the requests of our job's trace with io_uring and nothing else
(tests/bench/read_speed.c); "cat" copies the file; both are floors, not peers.
"""

import csv
import os
import random
import shlex
import shutil
import sqlite3
import statistics
import subprocess
import sys
import time

RUNS = int(os.environ.get("RUNS") or 5)
RECORDS = int(os.environ.get("RECORDS") or 8_000_000)
SCALE = os.environ.get("SCALE") or "1"
MEMORY = os.environ.get("MEMORY") or "64M"
WITHOUT = (os.environ.get("WITHOUT") or "").split()
DIR = os.path.abspath(os.environ.get("BENCH_DIR") or "build/bench")
DATA = os.path.join(DIR, f"data-table-{RECORDS}-{SCALE}")
OUT = os.path.join(DIR, "table.out")
KEYS = 20000
ONE_RUNS = 21
TIME = shutil.which("time")
C = [f"a{i}" for i in range(1, 16)]
LINEITEM = ["orderkey:u32", "partkey:u32", "suppkey:u32", "linenumber:u8", "quantity:u8",
            "extendedprice:dec32(2)", "discount:dec8(2)", "tax:dec8(2)", "returnflag:char(1)",
            "linestatus:char(1)", "shipdate:date", "commitdate:date", "receiptdate:date",
            "shipinstruct:dict8", "shipmode:dict8", "comment:text"]
NAMES = [c.split(":")[0] for c in LINEITEM]


def say(text):
    print("bench-table: " + text, file=sys.stderr)


def path(name):
    return os.path.join(DATA, name)


def tool(name):
    return os.path.abspath(os.environ.get(name.upper()) or f"build/bin/{name}")


def xtable(*words):
    return [tool("xtable"), words[0], "-S", MEMORY, *words[1:]]


def to_file(*words):
    """A command of xtable whose output goes to OUT."""
    return ["sh", "-c", f"exec {shlex.join(xtable(*words))} > {OUT}"]


# How the jobs of each peer start; R and LINEITEM are the files of its own form.
HEADS = {
    "duckdb": """
import duckdb
db = duckdb.connect(PATH, config={"threads": 2, "memory_limit": "2GB", "temp_directory": DATA})
""",
    "duckdb-parquet": """
import duckdb
db = duckdb.connect(config={"threads": 2, "memory_limit": "2GB", "temp_directory": DATA})
""",
    "chdb": """
from chdb import session
s = session.Session()
def ask(query):
    return s.query(query + " SETTINGS max_threads = 2", "TSV").data().split()
""",
    "lance": """
import lance
import pyarrow.compute as pc
data = lance.dataset(PATH)
""",
    "vortex": """
import pyarrow as pa
import pyarrow.compute as pc
import vortex
import vortex.expr as ve
data = vortex.open(PATH)
""",
    "parquet": """
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
""",
    "parquet-small": """
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
""",
    "sqlite": """
import sqlite3
db = sqlite3.connect(PATH)
""",
}
ANSWER = "print(n, repr(float(total)))\n"


def peer(name, file, text):
    values = {"PATH": path(file), "DATA": DATA, "OUT": OUT, "KEYS": path("numbers"), "LO": LO,
              "HI": HI, "C": C, "VALUES": path("values")}
    head = "".join(f"{k} = {v!r}\n" for k, v in values.items())
    return [sys.executable, "-c", head + HEADS[name] + text]


LO, HI = 0.3, 0.4  # of a1 of R: a tenth of the records


# How each form is made, once.
MAKE_PARQUET = """
import numpy as np, pyarrow as pa, pyarrow.parquet as pq, pyarrow.csv as pc
def batches():
    rows = np.memmap(SOURCE, dtype="<f8", mode="r").reshape(-1, 15)
    for at in range(0, len(rows), 1 << 17):
        part = rows[at:at + (1 << 17)]
        yield pa.record_batch([pa.array(np.ascontiguousarray(part[:, i])) for i in range(15)], names=C)
schema = pa.schema([(c, pa.float64()) for c in C])
"""
MAKE = {
    "r.duckdb": MAKE_PARQUET + """
import duckdb
reader = pa.RecordBatchReader.from_batches(schema, batches())
db = duckdb.connect(NEW)
db.execute("SET enable_progress_bar = false")
db.execute("CREATE TABLE r AS SELECT * FROM reader")
db.execute("CREATE INDEX i ON r(a1)")
db.close()
""",
    "r.parquet": MAKE_PARQUET + """
with pq.ParquetWriter(NEW, schema, compression="zstd") as w:
    for b in batches():
        w.write_batch(b)
""",
    "r.small": MAKE_PARQUET + """
with pq.ParquetWriter(NEW, schema, compression="none", use_dictionary=False, data_page_size=8192,
                      write_page_index=True) as w:
    for b in batches():
        w.write_batch(b)
""",
    "r.lance": MAKE_PARQUET + """
import lance
lance.write_dataset(pa.RecordBatchReader.from_batches(schema, batches()), NEW)
""",
    "r.vortex": MAKE_PARQUET + """
import vortex
vortex.io.write(pa.RecordBatchReader.from_batches(schema, batches()), NEW)
""",
    "r.sqlite": MAKE_PARQUET + """
import sqlite3
db = sqlite3.connect(NEW)
db.execute("PRAGMA journal_mode = OFF")
db.execute("CREATE TABLE r (" + ", ".join(c + " REAL" for c in C) + ")")
for b in batches():
    db.executemany("INSERT INTO r VALUES (" + ",".join("?" * 15) + ")",
                   zip(*(b.column(i).to_pylist() for i in range(15))))
db.execute("CREATE INDEX i ON r(a1)")
db.commit()
""",
    "lineitem.duckdb": """
import duckdb
db = duckdb.connect(NEW)
db.execute("SET enable_progress_bar = false")
db.execute(f"CREATE TABLE l AS SELECT * FROM read_csv('{LINES}', header=false, delim='|', names={NAMES + ['rest']})")
db.close()
""",
    "lineitem.parquet": """
import duckdb
db = duckdb.connect()
db.execute("SET enable_progress_bar = false")
db.execute(f"COPY (SELECT * FROM read_csv('{LINES}', header=false, delim='|', names={NAMES + ['rest']})) TO '{NEW}' (FORMAT parquet, COMPRESSION zstd)")
""",
}

MAKE["lineitem.lance"] = """
import lance, pyarrow.parquet as pq
f = pq.ParquetFile(NEW.replace(".lance.new", ".parquet"))
lance.write_dataset(f.iter_batches(), NEW, schema=f.schema_arrow)
"""
MAKE["lineitem.vortex"] = """
import pyarrow as pa, pyarrow.parquet as pq, vortex
f = pq.ParquetFile(NEW.replace(".vortex.new", ".parquet"))
vortex.io.write(pa.RecordBatchReader.from_batches(f.schema_arrow, f.iter_batches()), NEW)
"""

AVG_SQL = "SELECT count(a2), avg(a2) FROM %s WHERE a1 >= 0.3 AND a1 < 0.4"
DAYS = "shipdate >= '1995-03-01' AND shipdate < '1995-04-20'"
FEW_DAYS = "import datetime\nLOW, HIGH = datetime.date(1995, 3, 1), datetime.date(1995, 4, 20)\n"
FEW_TEXT = "import pyarrow.csv\npyarrow.csv.write_csv(t, OUT, pyarrow.csv.WriteOptions(include_header=False, delimiter='|'))\n"
TAKE = "numbers = [int(n) for n in open(KEYS)]\n"


def scan_jobs():
    where = f"a1 >= {LO} and a1 < {HI}"
    jobs = {
        "xtable": xtable("scan", path("r.csm"), "--agg", "count(a2),avg(a2)", "--where", where),
        "duckdb": peer("duckdb", "r.duckdb", f"n, total = db.execute('{AVG_SQL % 'r'}').fetchone()\n" + ANSWER),
        "sqlite": peer("sqlite", "r.sqlite", f"n, total = db.execute('{AVG_SQL % 'r NOT INDEXED'}').fetchone()\n" + ANSWER),
        "chdb": peer("chdb", "r.parquet", "n, total = ask(f\"" + AVG_SQL % "file('{PATH}', Parquet)" + "\")\n" + ANSWER),
        "lance": peer("lance", "r.lance", f"t = data.to_table(columns=['a2'], filter='{where}')\nn, total = len(t), pc.mean(t['a2']).as_py()\n" + ANSWER),
        "vortex": peer("vortex", "r.vortex", "t = data.scan(['a2'], expr=(ve.column('a1') >= LO) & (ve.column('a1') < HI)).read_all().to_arrow_table()\nn, total = len(t), pc.mean(t['a2']).as_py()\n" + ANSWER),
    }
    for name, file in (("parquet", "r.parquet"), ("parquet-small", "r.small")):
        jobs[name] = peer(name, file, "t = ds.dataset(PATH).to_table(columns=['a2'], filter=(ds.field('a1') >= LO) & (ds.field('a1') < HI))\nn, total = len(t), pc.mean(t['a2']).as_py()\n" + ANSWER)
    return jobs


def few_jobs():
    columns = "shipdate,extendedprice,discount"
    sql = f"COPY (SELECT {columns} FROM %s WHERE {DAYS}) TO '{OUT}' (FORMAT csv, HEADER false, DELIMITER '|')"
    return {
        "xtable": to_file("scan", path("lineitem.csm"), "--columns", columns, "--where", DAYS),
        "duckdb": peer("duckdb", "lineitem.duckdb", f"db.execute(\"{sql % 'l'}\")\n"),
        "duckdb-parquet": peer("duckdb-parquet", "lineitem.parquet", "db.execute(f\"" + sql % "'{PATH}'" + "\")\n"),
        "chdb": peer("chdb", "lineitem.parquet", f"ask(f\"SELECT {columns} FROM file('{{PATH}}', Parquet) WHERE {DAYS} INTO OUTFILE '{{OUT}}' FORMAT CSV\")\n"),
        "parquet": peer("parquet", "lineitem.parquet", FEW_DAYS + f"t = ds.dataset(PATH).to_table(columns={columns.split(',')}, filter=(ds.field('shipdate') >= LOW) & (ds.field('shipdate') < HIGH))\n" + FEW_TEXT),
        "lance": peer("lance", "lineitem.lance", f"t = data.to_table(columns={columns.split(',')}, filter=\"shipdate >= date '1995-03-01' and shipdate < date '1995-04-20'\")\n" + FEW_TEXT),
        "vortex": peer("vortex", "lineitem.vortex", FEW_DAYS + f"t = data.scan({columns.split(',')}, expr=(ve.column('shipdate') >= LOW) & (ve.column('shipdate') < HIGH)).read_all().to_arrow_table()\n" + FEW_TEXT),
    }


def all_jobs(name, source):
    table = "l" if name == "lineitem" else "r"
    return {
        "xtable": to_file("scan", path(name + ".csm"), "--format=text"),
        "xtable-nsm": to_file("scan", path(name + ".nsm"), "--format=text"),
        "duckdb": peer("duckdb", name + ".duckdb", f"db.execute(\"COPY {table} TO '{OUT}' (FORMAT csv, HEADER false, DELIMITER '|')\")\n"),
        "cat": ["sh", "-c", f"cat {source} > {OUT}"],
    }


def get_jobs():
    total = "n, total = len(t), pc.sum(t['a7']).as_py()\n" + ANSWER
    return {
        **{"xtable-" + f: to_file("get", path("r." + f), "--keys", path("numbers"))
           for f in ("nsm", "csm")},
        "duckdb": peer("duckdb", "r.duckdb", TAKE + "db.execute(f\"CREATE TEMP TABLE k AS SELECT column0 AS k FROM read_csv('{KEYS}', header=false)\")\nn, total = db.execute('SELECT count(*), sum(' + '+'.join(C) + ') FROM r WHERE rowid IN (SELECT k FROM k)').fetchone()\n" + ANSWER),
        "lance": peer("lance", "r.lance", TAKE + "t = data.take(numbers)\n" + total),
        "vortex": peer("vortex", "r.vortex", TAKE + "t = data.scan(indices=vortex.array(pa.array(sorted(numbers), type=pa.uint64()))).read_all().to_arrow_table()\n" + total),
        "sqlite": peer("sqlite", "r.sqlite", TAKE + "n = total = 0\nfor k in numbers:\n    row = db.execute('SELECT * FROM r WHERE rowid = ?', (k + 1,)).fetchone()\n    n += 1\n    total += row[6]\n" + ANSWER),
    }


def key_jobs():
    return {
        **{"xtable-" + f: to_file("get", path("r." + f), "--by", "a1", "--keys", path("values"))
           for f in ("nsm", "csm")},
        "sqlite": peer("sqlite", "r.sqlite", "n = total = 0\nfor k in open(VALUES):\n    for row in db.execute('SELECT * FROM r WHERE a1 = ?', (float(k),)):\n        n += 1\n        total += row[6]\n" + ANSWER),
        "duckdb": peer("duckdb", "r.duckdb", "db.execute(f\"CREATE TEMP TABLE k AS SELECT column0 AS k FROM read_csv('{VALUES}', header=false, columns={{'column0': 'DOUBLE'}})\")\nn, total = db.execute('SELECT count(*), sum(' + '+'.join(C) + ') FROM r WHERE a1 IN (SELECT k FROM k)').fetchone()\n" + ANSWER),
    }


def one_jobs():
    return {
        "xtable-nsm": xtable("get", path("r.nsm"), "4711"),
        "xtable-csm": xtable("get", path("r.csm"), "4711"),
        "duckdb": peer("duckdb", "r.duckdb", "print(db.execute('SELECT * FROM r WHERE rowid = 4711').fetchone())\n"),
        "sqlite": peer("sqlite", "r.sqlite", "print(db.execute('SELECT * FROM r WHERE rowid = 4712').fetchone())\n"),
    }


def update_jobs():
    """Changes one column of 20,000 records, by a1, durably."""
    return {
        **{"xtable-" + f: xtable("update", path("r." + f), "--by", "a1", "--keys", path("values"), "--set", "a7=0.5")
           for f in ("csm", "nsm")},
        "sqlite": peer("sqlite", "r.sqlite", "db.executemany('UPDATE r SET a7 = 0.5 WHERE a1 = ?', ((float(k),) for k in open(VALUES)))\ndb.commit()\n"),
        "parquet": peer("parquet", "r.parquet", "import pyarrow as pa\nkeys = pa.array([float(k) for k in open(VALUES)])\nf = pq.ParquetFile(PATH)\nwith pq.ParquetWriter(PATH + '.new', f.schema_arrow, compression='zstd') as w:\n    for b in f.iter_batches():\n        new = pc.if_else(pc.is_in(b['a1'], keys), 0.5, b['a7'])\n        w.write_batch(b.set_column(6, 'a7', new))\nimport os\nos.replace(PATH + '.new', PATH)\n"),
    }


def where_jobs():
    """Changes one column of a tenth of the records."""
    return {
        **{"xtable-" + f: xtable("update", path("r." + f), "--where", f"a1 >= {LO} and a1 < {HI}", "--set", "a7=0.5")
           for f in ("csm", "nsm")},
        "duckdb": peer("duckdb", "r.duckdb", "db.execute('UPDATE r SET a7 = 0.5 WHERE a1 >= 0.3 AND a1 < 0.4')\ndb.execute('CHECKPOINT')\n"),
    }


def load_jobs():
    types = ",".join(LINEITEM)
    return {
        "xtable": xtable("load", OUT, "-t", "|", "--types", types, path("lineitem")),
        "xtable-inferred": xtable("load", OUT, "-t", "|", path("lineitem")),
        "duckdb": [sys.executable, "-c", f"LINES = {path('lineitem')!r}\nNEW = {OUT!r}\nNAMES = {NAMES!r}\n" + MAKE["lineitem.duckdb"]],
        "cat": ["sh", "-c", f"cat {path('lineitem')} > {OUT}"],
    }


# title, jobs, ours (the job that is judged), writes, goals: (peer or floor, factor, seconds more)
ROWS = {
    "load": ("load of lineitem into CSM", load_jobs, True, [("xtable", "duckdb", 0.5, 0), ("xtable", "cat", 3, 0)]),
    "scan": ("R: avg of 1 column over 10 %", scan_jobs, False,
             [("xtable", "bare", 1.25, 0.05), ("xtable", "peers", 1.05, 0)]),
    "few": ("lineitem, 3 of 16 columns of 2 % by date, to text", few_jobs, False, [("xtable", "bare", 1.25, 0.05)]),
    "all-lineitem": ("lineitem, all columns, to text", lambda: all_jobs("lineitem", path("lineitem")), True,
                     [("xtable", "duckdb", 1 / 1.5, 0), ("xtable", "cat", 3, 0)]),
    "all-r": ("R, all columns, to text", lambda: all_jobs("r", path("r.text")), True,
              [("xtable", "duckdb", 1, 0), ("xtable", "cat", 3, 0)]),
    "get": ("20,000 full records of R by number", get_jobs, False,
            [("xtable-nsm", "bare", 1.6, 0), ("xtable-csm", "bare", 1.6, 0), ("xtable-nsm", "peers", 1 / 2.5, 0), ("xtable-csm", "peers", 1.05, 0)]),
    "key": ("20,000 full records of R by a1", key_jobs, False,
            [("xtable-nsm", "bare", 1.6, 0), ("xtable-csm", "bare", 1.6, 0), ("xtable-nsm", "sqlite", 0.25, 0), ("xtable-nsm", "duckdb", 0.5, 0)]),
    "one": ("one record, one process", one_jobs, False,
            [("xtable-nsm", "duckdb", 1 / 3, 0), ("xtable-nsm", "sqlite", 1.05, 0)]),
    "update": ("one column of 20,000 records of R by a1", update_jobs, True,
               [("xtable-csm", "sqlite", 1 / 3, 0), ("xtable-csm", "parquet", 0.2, 0)]),
    "where": ("one column of 10 % of R", where_jobs, True,
              [("xtable-csm", "xtable-nsm", 0.25, 0), ("xtable-csm", "duckdb", 1.05, 0)]),
}
FLOORS = ("bare", "cat")
DEVICE = 1.25  # a job that takes at most this many times its bare requests is as fast as the device


def read_bytes():
    """Bytes that this process and the children it has waited for have read from devices."""
    with open("/proc/self/io", encoding="ascii") as f:
        return int(dict(line.split(": ") for line in f)["read_bytes"])


def run(call):
    """Seconds, the largest resident set in MB, and the MB read from devices.

    time(1) reports the resident set: wait4(2) would count that of this script."""
    figure = os.path.join(DIR, "table.memory")
    if TIME:
        call = [TIME, "-f", "%M", "-o", figure, *call]
    before = read_bytes()
    begin = time.monotonic()
    with open(os.path.join(DIR, "table.answer"), "wb") as out, open(os.path.join(DIR, "table.err"), "wb") as err:
        p = subprocess.Popen(call, stdout=out, stderr=err)
        status = p.wait()
    seconds = time.monotonic() - begin
    megabytes = (read_bytes() - before) / 1e6
    if status:
        with open(os.path.join(DIR, "table.err"), encoding="utf8", errors="replace") as f:
            raise RuntimeError(f.read().strip()[-300:] or f"status {status}")
    if not TIME:
        return seconds, 0, megabytes
    with open(figure, encoding="ascii") as f:
        return seconds, int(f.read().split()[-1]) / 1024, megabytes


def answer():
    with open(os.path.join(DIR, "table.answer"), encoding="utf8") as f:
        words = f.read().replace(",", " ").replace("|", " ").split()
    try:
        return [float(f"{float(w):.12g}") for w in words]
    except ValueError:
        return []


def settle(cold):
    if os.path.isdir(OUT):
        shutil.rmtree(OUT)
    elif os.path.exists(OUT):
        os.remove(OUT)
    if not cold:
        return
    os.sync()
    try:
        with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as f:
            f.write("3")
    except OSError:
        pass


def make(name, call):
    if os.path.exists(path(name)):
        return
    say(f"making {name}")
    new = path(name + ".new")
    if os.path.isdir(new):
        shutil.rmtree(new)
    subprocess.run([new if w == "NEW" else w for w in call], check=True)
    os.rename(new, path(name))


def script(name):
    text = f"NEW = {path(name + '.new')!r}\nSOURCE = {path('r')!r}\nLINES = {path('lineitem')!r}\nC = {C!r}\nNAMES = {NAMES!r}\n"
    return [sys.executable, "-c", text + MAKE[name]]


def make_data(peers, rows):
    os.makedirs(DATA, exist_ok=True)
    make("r", [tool("xgen"), "r", "-n", str(RECORDS), "--binary", "-o", "NEW"])
    make("r.text", [tool("xgen"), "r", "-n", str(RECORDS), "-o", "NEW"])
    make("lineitem", [tool("xgen"), "lineitem", "--scale", SCALE, "-o", "NEW"])
    types = ",".join(c + ":f64" for c in C)
    for form in ("nsm", "csm"):
        make("r." + form, xtable("load", "NEW", "--layout", form, "--record-size=120", "--types", types, path("r")))
        if {"key", "update"} & set(rows):
            make(f"r.{form}.a1.index", xtable("index", path("r." + form), "a1", "-o", "NEW"))
        make("lineitem." + form, xtable("load", "NEW", "--layout", form, "-t", "|", "--types", ",".join(LINEITEM), path("lineitem")))
    needs = {"r.duckdb": "duckdb", "lineitem.duckdb": "duckdb", "r.parquet": "parquet", "r.small": "parquet",
             "lineitem.parquet": "duckdb", "r.lance": "lance", "r.vortex": "vortex", "r.sqlite": "sqlite",
             "lineitem.lance": "lance", "lineitem.vortex": "vortex"}
    for name, of in needs.items():
        if of in peers:
            make(name, script(name))
    pick = random.Random(1)
    numbers = pick.sample(range(RECORDS), min(KEYS, RECORDS))
    with open(path("numbers"), "w", encoding="ascii") as f:
        f.writelines(f"{n}\n" for n in numbers)
    import numpy
    rows = numpy.memmap(path("r"), dtype="<f8", mode="r").reshape(-1, 15)
    with open(path("values"), "w", encoding="ascii") as f:
        f.writelines(f"{float(rows[n][0])!r}\n" for n in numbers)


def bare(call, files, ours):
    """A job that repeats the reads of a call."""
    trace = os.path.join(DIR, f"table.{ours}.trace")
    settle(True)
    words = shlex.split(call[-1])[1:] if call[0] == "sh" else call
    run([w.replace(f" {words[1]} ", f" {words[1]} --trace={trace} ", 1) if call[0] == "sh" else w for w in call]
        if call[0] == "sh" else [call[0], call[1], f"--trace={trace}", *call[2:]])
    return [os.path.abspath(os.environ.get("READ_SPEED") or "build/tests/bench/read_speed"), trace, "io_uring", "128", *files]


def bare_seconds(call):
    settle(True)
    return float(subprocess.run(call, check=True, capture_output=True, text=True).stdout.split()[2])


def present():
    """The peers that can be imported."""
    found = {"sqlite"}
    for name, module in (("duckdb", "duckdb"), ("parquet", "pyarrow"), ("lance", "lance"), ("vortex", "vortex"), ("chdb", "chdb")):
        if subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0:
            found.add(name)
        else:
            say(f"{name} is left out: it is not there")
    return found - set(WITHOUT)


def belongs(job, peers):
    return job.split("-")[0] in peers | {"xtable", "cat", "bare"}


def run_row(name, peers):
    """Seconds, memory and bytes read of each job, or the reason if there are none."""
    _, jobs, writes, goals = ROWS[name]
    calls = {p: c for p, c in jobs().items() if belongs(p, peers)}
    floors = {g[0] for g in goals if g[1] == "bare"}
    for ours in floors:
        words = shlex.split(" ".join(calls[ours]))
        files = [w for w in words if w.startswith(DATA) and w.endswith(("sm", "index"))]
        files += [f + ".a1.index" for f in files if name == "key"]
        calls["bare" if len(floors) == 1 else f"bare {ours}"] = bare(calls[ours], files, ours)
    times = {p: [] for p in calls}
    right = None
    for r in range(ONE_RUNS if name == "one" else RUNS):
        order = list(calls)
        for p in order[r % len(order):] + order[:r % len(order)]:
            if not isinstance(times[p], list):
                continue
            try:
                if p.startswith("bare"):
                    times[p].append((bare_seconds(calls[p]), 0, 0))
                    continue
                settle(name != "one")
                seconds, memory, megabytes = run(calls[p])
                if writes:
                    begin = time.monotonic()
                    os.sync()
                    seconds += time.monotonic() - begin
                times[p].append((seconds, memory, megabytes))
                say(f"{name}: {p}: {seconds:.3f} s, {memory:.0f} MB resident, {megabytes:.0f} MB read")
            except (RuntimeError, subprocess.CalledProcessError) as e:
                say(f"{name}: {p} failed: {e}")
                times[p] = "failed"
                continue
            got = answer() if name == "scan" else []
            if got and right and got != right:
                say(f"{name}: {p} has another answer: {got}, not {right}")
                times[p] = "wrong"
            right = right or got
    return times


def median(times, column=0):
    return statistics.median(t[column] for t in times) if isinstance(times, list) and times else None


def verdicts(name, times):
    """Lines: ours, beside what, wanted, ratio, reached."""
    lines = []
    for ours, beside, factor, more in ROWS[name][3]:
        mine = median(times.get(ours))
        if beside == "peers":
            others = [median(t) for p, t in times.items() if not p.startswith(("xtable",) + FLOORS)]
            others = [o for o in others if o is not None]
            other = min(others) if others else None
        else:
            other = median(times.get(beside, times.get(f"{beside} {ours}")))
        if mine is None or other is None:
            lines.append((ours, beside, f"{factor:.3g}", "", "not measured"))
            continue
        floor = median(times.get("bare", times.get(f"bare {ours}")))
        if mine <= factor * other + more:
            judged = "reached"
        elif beside not in FLOORS and floor and mine <= DEVICE * floor:
            judged = f"as fast as the device: {mine / floor:.2f} of bare"
        else:
            judged = "missed"
        lines.append((ours, beside, f"{factor:.3g}", f"{mine / other:.3f}", judged))
    return lines


def write(results):
    with open(os.path.join(DIR, "table.csv"), "w", newline="", encoding="ascii") as f:
        out = csv.writer(f)
        out.writerow(["row", "job", "run", "seconds", "memory_mb", "read_mb"])
        for name, times in results.items():
            for p, t in times.items():
                for i, one in enumerate(t if isinstance(t, list) else []):
                    out.writerow([name, p, i, f"{one[0]:.4f}", f"{one[1]:.0f}", f"{one[2]:.1f}"])
    lines = []
    for name, times in results.items():
        lines += ["", f"**{ROWS[name][0]}** (`-S {MEMORY}`)", "", "| job | s | resident MB | read MB |", "|---|---|---|---|"]
        for p, t in times.items():
            lines.append(f"| {p} | " + (f"{median(t):.3f} | {median(t, 1):.0f} | {median(t, 2):.0f} |"
                                     if isinstance(t, list) and t else f"{t} | | |"))
        lines += ["", "| ours | beside | wanted at most | ratio | |", "|---|---|---|---|---|"]
        lines += ["| " + " | ".join(v) + " |" for v in verdicts(name, times)]
    with open(os.path.join(DIR, "table.md"), "w", encoding="ascii") as f:
        f.write("\n".join(lines).lstrip() + "\n")
    print("\n".join(lines).lstrip())


def main():
    rows = (os.environ.get("ROWS") or " ".join(ROWS)).split()
    unknown = [r for r in rows if r not in ROWS]
    if unknown:
        say(f"no row named {unknown[0]}")
        return 2
    peers = present()
    make_data(peers, rows)
    write({r: run_row(r, peers) for r in rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
