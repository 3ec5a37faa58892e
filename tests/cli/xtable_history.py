# SPDX-License-Identifier: MIT
"""Holds random sequences of changes of xtable's tables against the same changes of lists in memory.

xtable_history.py SEED TABLES [STEPS]

Each step appends, updates, deletes, converts, loads again, builds an index, or restores a copy of
the table.  After it all records, a predicate, aggregates, records by number and by value have the
answers of the lists, and "xtable check" finds nothing.  An index that was built before has the
right answers or is refused.  Tables of few types are also held in SQLite, and in DuckDB if Python
has it, which read predicates themselves; with pyarrow all records are also read through the package
spindle_io.  $XTABLE is the tool; files are made in the current directory.
"""
import glob
import importlib.util
import os
import random
import shutil
import sqlite3
import sys
from decimal import Decimal
from fractions import Fraction
from xtable_predicates import interval, predicate
from xtable_random import FULL_CELL, ORDERED, Table, ask_aggregates, call, run, same
from xtable_values import NAMED, REALS

PLAIN = ["integer", "date", "word", "named", "letters", "binary"]  # that databases have alike
SIZES = [0, 1, 2, 17, 300, 511, 512, 1500]
PLACED = [["--placement=mems", "--volume=sim:mems-thesis"],
          ["--placement=semiseq", "--volume=sim:atlas10k3-like"],
          ["--placement=semiseq", "--volume=sim:atlas10k3-like", "--volumes=3"],
          ["--placement=semiseq", "--volume=sim:tiny"],
          ["--placement=semiseq", "--volume=sim:tiny", "--volumes=V1,V2"]]
SMALL = ("choose larger", "choose fewer", "choose smaller") + FULL_CELL
NO_INDEX = "index"
NO_SPACE = "larger drives"  # for a journal, or for more records


def answer(args, options, statuses=(0,), **more):
    """Runs a question; if no frame fits into its pool, without one."""
    done = call(args + options, **more)
    if done.returncode == 2 and "--pool" in options and b"frame" in done.stderr:
        done = call(args, **more)
    if done.returncode not in statuses:
        sys.exit(f"{args + options}: status {done.returncode}: {done.stderr.decode()}")
    return done.stdout


def has(module):
    return importlib.util.find_spec(module) is not None


def resources(r, pool=True):
    options = ["--parallel", str(r.choice([1, 2, 3, 8, 16])), "-S", r.choice(["8M", "16M", "64M"])]
    if pool and r.random() < 0.3:
        options += ["--pool", r.choice("FSD"), f"--pool-size={r.choice(['1M', '6M'])}"]
    return options


class Database:
    """The table in a database, with the numbers of its records in the column "n"."""

    def __init__(self, module, t, alive):
        self.db = __import__(module).connect(":memory:")
        if module == "duckdb":
            self.db.execute("set threads = 1")
        self.kinds = ["bigint"] + [{"integer": "bigint", "binary": "double"}.get(c.kind, "varchar")
                                   for c in t.columns]
        columns = ["n"] + [c.name for c in t.columns]
        names = [f'"{name}" {kind}' for name, kind in zip(columns, self.kinds)]
        self.db.execute(f"create table t ({', '.join(names)})")
        self.lists = module == "duckdb"  # which is slow at single records
        self.insert(t, sorted(alive))

    def insert(self, t, rows):
        values = [[i] + [stored(c, c.values[i]) for c in t.columns] for i in rows]
        if values and self.lists:
            some = ", ".join(f"unnest(?::{k}[])" for k in self.kinds)
            self.db.execute(f"insert into t select {some}", [list(v) for v in zip(*values)])
        elif values:
            marks = ",".join("?" * len(self.kinds))
            self.db.executemany(f"insert into t values ({marks})", values)

    def change(self, statement, where, rows):
        """Changes the records of a predicate, or those with these numbers."""
        if where is None:
            where = f"n in ({', '.join(map(str, rows))})" if rows else "1 = 0"
        self.db.execute(f"{statement} where {where}")

    def lines(self, t):
        rows = self.db.execute("select * from t order by n").fetchall()
        return [t.record([t.field(shown(c, v), v is None) for c, v in zip(t.columns, row[1:])])
                for row in rows]


def shown(c, v):
    return c.show(v) if c.kind == "binary" or v is None else str(v)


def stored(c, v):
    return v if v is None or c.kind in ("integer", "binary") else c.show(v)


def databases(t, alive):
    """DuckDB compares integers and floats as floats."""
    names = ["sqlite3"]
    if has("duckdb") and all(abs(v or 0) < 1 << 53 for c in t.columns if c.kind == "integer"
                             for v in c.values):
        names.append("duckdb")
    return [Database(name, t, alive) for name in names]


class History:
    """A table, its records in lists, and the files of indexes with their columns."""

    def __init__(self, seed):
        self.r = r = random.Random(seed)
        self.seed = seed
        self.plain = r.random() < 0.3
        kinds = PLAIN if self.plain else r.choice([ORDERED, NAMED, ORDERED + NAMED])
        self.t = Table(r, kinds, final=True, sizes=SIZES)
        self.t.plain = self.plain
        self.alive = set(range(self.t.n))
        self.valid, self.doubtful = {}, {}
        self.volumes, self.new_volumes, self.copy, self.log = [], [], None, []
        self.made = 0
        for name in glob.glob("*.index") + glob.glob("v[0-9]*"):
            os.unlink(name)
        with open("in", "wb") as f:
            f.write(self.t.bytes())
        self.make(["load", "t", "--overwrite"] + self.t.options() + ["in"])
        self.volumes = self.new_volumes
        self.mirrors = databases(self.t, self.alive) if self.plain else []

    def note(self, args, **_):
        self.log.append(" ".join(args)[:600])
        return args

    def make(self, args):
        """Makes a table of a random layout; if its records do not fit, of the default one."""
        options, self.new_volumes = self.t.layout(), []
        if self.r.random() < 0.3:
            options = [o for o in self.r.choice(PLACED)]
            if options[-1].startswith("--volumes=V"):
                self.made += 1
                self.new_volumes = [f"v{self.made}a", f"v{self.made}b"]
                options[-1] = "--volumes=" + ",".join(self.new_volumes)
        if args[0] == "convert":
            options = [o.replace("--volume", "--to-volume") if o.split("=")[0] == "--volume" else o
                       for o in options]
        done = call(self.note(args + options))
        if done.returncode and any(t in done.stderr.decode() for t in SMALL):
            self.new_volumes = []
            run(self.note(args + ["--cell=64K"]))
        elif done.returncode:
            sys.exit(f"{args + options}: {done.stderr.decode()}")

    def lines(self, rows):
        return "".join(s + self.t.newline for s in self.t.lines(rows)).encode()

    def text(self):
        t = self.t
        return "".join(s + t.newline for s in t.headers() + t.lines(sorted(self.alive))).encode()

    def fresh(self, number):
        """Appends records to the lists whose values are those of others."""
        t = self.t
        for c in t.columns:
            c.values += [self.r.choice(c.values) for _ in range(number)]
        rows = range(t.n, t.n + number)
        t.n += number
        return rows

    def suspect(self, columns=None):
        """Indexes of columns whose values have changed might be right or be refused."""
        for file, c in list(self.valid.items()):
            if columns is None or c in columns:
                self.doubtful[file] = self.valid.pop(file)

    # Steps.

    def append(self):
        if not self.t.n:
            return
        rows = self.fresh(self.r.choice([1, 5, 60, 700]))
        text = "".join(s + self.t.newline for s in self.t.headers()).encode() + self.lines(rows)
        if not self.changed(["append", "t"], text, (0, 2)):
            for c in self.t.columns:
                del c.values[rows.start:]
            self.t.n = rows.start
            return
        self.alive.update(rows)
        for m in self.mirrors:
            m.insert(self.t, rows)

    def chosen(self):
        """How to choose records: options, input, their numbers, the predicate, and the status."""
        r, t = self.r, self.t
        way = r.choice(["number", "where", "by"])
        if way == "where":
            text, true = predicate(r, t)
            rows = [i for i in self.alive if true(i) is True]
            return ["--where", text], None, rows, text, (0,) if rows else (1,)
        c = r.choice(t.columns)
        values = [v for v in c.sayable() if not set(c.show(v)) & set("\n\r")]
        if way == "by" and values:
            some = [r.choice(values) for _ in range(r.choice([1, 1, 3, 30]))]
            orders = {c.order(v) for v in some}
            rows = [i for i in self.alive if c.values[i] is not None
                    and c.order(c.values[i]) in orders]
            found = {c.order(c.values[i]) for i in rows}
            keys = "".join(c.show(v) + "\n" for v in some).encode()
            status = (0, 2) if found == orders else (1, 2)
            return ["--by", c.name, "--keys=-"], keys, rows, None, status
        wanted = [r.randint(0, t.n + 1) for _ in range(r.choice([1, 5, 50]))]
        rows = [i for i in set(wanted) if i in self.alive]
        keys = "".join(f"{i}\n" for i in wanted).encode()
        return ["--keys=-"], keys, rows, None, (int(len(rows) < len(set(wanted))),)

    def changed(self, args, keys, statuses):
        """Changes the table.  False if that is refused, so that nothing has changed."""
        done = call(self.note(args + resources(self.r, pool=False)), input=keys)
        said = done.stderr.decode()
        if done.returncode == 2 and (NO_SPACE in said or 2 in statuses and self.doubtful
                                     and NO_INDEX in said):
            return False
        if done.returncode not in [s for s in statuses if s != 2]:
            sys.exit(f"seed {self.seed}: {args}: status {done.returncode}: {said}")
        return True

    def update(self):
        r, t = self.r, self.t
        how, keys, rows, where, statuses = self.chosen()
        columns = r.sample(t.columns, r.randint(1, min(3, len(t.columns))))
        new = [r.choice(c.sayable() + [None]) for c in columns]
        sets = [f"--set={set_of(c, v)}" for c, v in zip(columns, new)]
        if not self.changed(["update", "t"] + how + sets, keys, statuses):
            return
        for m in self.mirrors:
            to = ", ".join(f'"{c.name}" = {"null" if v is None else c.literal(v)}'
                           for c, v in zip(columns, new))
            m.change(f"update t set {to}", where, rows)
        for c, v in zip(columns, new):
            for i in rows:
                c.values[i] = v
        if rows:
            self.suspect(columns)

    def update_from(self):
        r, t = self.r, self.t
        by = r.choice(t.columns)
        others = [c for c in t.columns if c is not by]
        known = {by.order(v): v for v in by.sayable()}
        if not others or not known:
            return
        some = r.sample(sorted(known), r.randint(1, min(len(known), 40)))
        columns = r.sample(others, r.randint(1, min(3, len(others))))
        new = {key: [r.choice(c.values) for c in columns] for key in some}
        with open("from", "wb") as f:
            lines = [t.record([c.name for c in [by] + columns])]
            for key in some:
                row = [t.field(by.show(known[key]), False)]
                row += [t.field(c.show(v), v is None) for c, v in zip(columns, new[key])]
                lines.append(t.record(row))
            f.write("".join(s + t.newline for s in lines).encode())
        rows = {i: new[by.order(by.values[i])] for i in self.alive
                if by.values[i] is not None and by.order(by.values[i]) in new}
        found = {by.order(by.values[i]) for i in rows}
        status = (0, 2) if found == set(some) else (1, 2)
        if not self.changed(["update", "t", "--by", by.name, "--from=from"], None, status):
            return
        for key in found:
            changed = [i for i in rows if by.order(by.values[i]) == key]
            to = ", ".join(f'"{c.name}" = {"null" if v is None else c.literal(v)}'
                           for c, v in zip(columns, new[key]))
            for m in self.mirrors:
                m.change(f"update t set {to}", None, changed)
        for i, values in rows.items():
            for c, v in zip(columns, values):
                c.values[i] = v
        if rows:
            self.suspect(columns)

    def delete(self):
        how, keys, rows, where, statuses = self.chosen()
        if len(rows) * 2 > len(self.alive) > 20 and self.r.random() < 0.8:
            return  # or most tables are soon empty
        if not self.changed(["delete", "t"] + how, keys, statuses):
            return
        self.alive.difference_update(rows)
        for m in self.mirrors:
            m.change("delete from t", where, rows)

    def index(self):
        c = self.r.choice(self.t.columns)
        file = self.r.choice([f"t.{c.name}.index", f"{c.name}.index"])
        run(self.note(["index", "t", c.name, "-o", file] + resources(self.r, pool=False)))
        self.doubtful.pop(file, None)
        self.valid[file] = c

    def renumber(self):
        """The records that are left have new numbers."""
        rows = sorted(self.alive)
        for c in self.t.columns:
            c.values = [c.values[i] for i in rows]
        self.t.n = len(rows)
        self.alive = set(range(len(rows)))
        self.suspect()
        self.mirrors = databases(self.t, self.alive) if self.plain else []

    def replaced(self):
        """The new table has the old one's name."""
        for name in self.volumes:
            os.unlink(name)
        self.volumes = self.new_volumes
        self.renumber()

    def convert(self):
        self.make(["convert", "t", "u", "--overwrite"])
        os.replace("u", "t")
        self.replaced()

    def reload(self):
        first = min(self.alive, default=None)
        if first is None or self.t.columns[-1].values[first] is None:
            return  # the separators before NULL would be trailing ones
        with open("in", "wb") as f:
            f.write(run(["scan", "t"]))
        self.make(["load", "t", "--overwrite"] + self.t.options() + ["in"])
        self.replaced()

    def save(self):
        """Copies the table with its volumes, and the lists."""
        names = ["t"] + self.volumes
        for name in names:
            run_cp(name, "copy." + name)
        self.copy = (names, self.t.n, set(self.alive), [list(c.values) for c in self.t.columns])

    def restore(self):
        if not self.copy:
            return
        names, self.t.n, alive, values = self.copy
        for name in set(["t"] + self.volumes) - set(names):
            os.unlink(name)
        for name in names:
            run_cp("copy." + name, name)
        self.note(["restore", "t"])
        self.volumes, self.alive = names[1:], set(alive)
        for c, v in zip(self.t.columns, values):
            c.values = list(v)
        self.suspect()
        self.mirrors = databases(self.t, self.alive) if self.plain else []

    # Questions.

    def ask(self):
        t, r = self.t, self.r
        why = f"seed {self.seed}"
        options = resources(r)
        same(why, options, answer(["scan", "t"], options), self.text())
        run(["check", "t"])
        for m in self.mirrors:
            want = "".join(s + t.newline for s in t.headers() + m.lines(t)).encode()
            same(why, "the database", self.text(), want)
        text, true = predicate(r, t)
        rows = [i for i in sorted(self.alive) if true(i) is True]
        args = ["scan", "t", "--where", text, "--access", r.choice(["auto", "s-scan", "si-scan"])]
        options = resources(r)
        head = "".join(s + t.newline for s in t.headers()).encode()
        same(why, args + options, answer(args, options), head + self.lines(rows))
        ask_aggregates(self.seed, r, t, text, rows)
        self.ask_numbers()
        for file, c in list(self.valid.items()) + list(self.doubtful.items()):
            self.ask_index(file, c)
        if has("pyarrow") and has("spindle_io") and r.random() < 0.3:
            self.ask_arrow()

    def ask_numbers(self):
        wanted = [self.r.randint(0, self.t.n + 1) for _ in range(self.r.choice([1, 5, 100]))]
        there = [i for i in wanted if i in self.alive]
        options = resources(self.r)
        got = answer(["get", "t", "--keys=-"], options, (int(there != wanted),),
                     input="".join(f"{i}\n" for i in wanted).encode())
        same(f"seed {self.seed}", ["get"] + options, got, self.lines(there))

    def with_index(self, file, args, statuses, want, **more):
        """The answer through an index, which may be refused if its column has changed."""
        done = call(args + ["--index", file] + resources(self.r, pool=False), **more)
        if done.returncode == 2 and file in self.doubtful:
            return
        if done.returncode not in statuses:
            sys.exit(f"seed {self.seed}: {args}, {file}: {done.returncode}: {done.stderr.decode()}")
        same(f"seed {self.seed}", args + [file], done.stdout, want)

    def ask_index(self, file, c):
        t, r = self.t, self.r
        values = [v for v in c.sayable() if not set(c.show(v)) & set("\n\r")]
        if not values:
            return
        some = [r.choice(values) for _ in range(r.choice([1, 20]))]
        numbers = {}
        for i in sorted(self.alive):
            if c.values[i] is not None:
                numbers.setdefault(c.order(c.values[i]), []).append(i)
        there = [i for v in some for i in numbers.get(c.order(v), [])]
        status = int(any(c.order(v) not in numbers for v in some))
        keys = "".join(c.show(v) + "\n" for v in some).encode()
        self.with_index(file, ["get", "t", "--by", c.name, "--keys=-"], (status,),
                        self.lines(there), input=keys)
        args = ["scan", "t", "--where", interval(r, c)]
        want = run(args + ["--access=s-scan"])
        same(f"seed {self.seed}", args, answer(args, resources(r)), want)
        self.with_index(file, args + ["--access=index"], (0,), want)

    def ask_arrow(self):
        import pyarrow
        from spindle_io import Table as Stored
        read = pyarrow.table(Stored("t").scan())
        for c, column in zip(self.t.columns, read.columns):
            got = [plain(c, v) for v in column.to_pylist()]
            want = [plain(c, c.values[i]) for i in sorted(self.alive)]
            if got != want:
                where = next(i for i, (a, b) in enumerate(zip(got, want)) if a != b)
                sys.exit(f"seed {self.seed}: column {c.name} by Arrow: {got[where]!r}, "
                         f"not {want[where]!r}")

    STEPS = ["append", "append", "update", "update", "update_from", "delete", "index", "index",
             "convert", "reload", "save", "restore"]

    def step(self):
        getattr(self, self.r.choice(self.STEPS))()
        self.ask()


def plain(c, v):
    if isinstance(v, Decimal):
        return Fraction(v)
    if c.kind in REALS and v is not None:
        return repr(v)
    return v


def set_of(c, v):
    """The text of --set for a value; no text has a zero byte."""
    text = "null" if v is None else "'" + c.show(v).replace("'", "''") + "'"
    return f'"{c.name}"={text}'


def run_cp(name, to):
    """Copies a file, which can be sparse."""
    if os.system(f"cp --sparse=always {name} {to}"):
        sys.exit(f"{name} cannot be copied")


def main():
    first, tables = int(sys.argv[1]), int(sys.argv[2])
    steps = int(sys.argv[3]) if len(sys.argv) > 3 else 6
    for seed in range(first, first + tables):
        history = History(seed)
        try:
            history.ask()
            for _ in range(steps):
                history.step()
        except SystemExit:
            print("\n".join(history.log))
            raise


if __name__ == "__main__":
    main()
