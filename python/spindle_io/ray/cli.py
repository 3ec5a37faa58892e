# SPDX-License-Identifier: MIT
"""The command spindle-ray: its options, messages and status.

Options of order and format are passed through as they stand; only how many arguments they take is
known here.
"""

from __future__ import annotations

import contextlib
import getopt
import itertools
import json
import locale
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import spindle_io
from spindle_io import GroupOptions, JoinOptions, Options, SpindleError
from spindle_io._lib import printable

from . import files, seen
from .plan import Work
from .seen import Seen

HELP = """\
usage: spindle-ray sort [option]... -o FOLDER FILE...
       spindle-ray join [option]... -o FOLDER FILE1... -- FILE2...
       spindle-ray group [option]... -o FOLDER FILE...
       spindle-ray config

Sorts, joins and groups files on the machines of a Ray cluster.  Options of order, format and groups
are those of xsort, xjoin and xgroup.  The others:

  -o, --output=FOLDER            the parts go there; it appears when all are complete
  -S, --buffer-size=SIZE         memory of one task (256M)
  -T, --temporary-directory=DIR  on each machine, for ranges that are merged in files
      --ranges=N                 parts of the result
      --group=N                  pieces whose blocks are merged on their node; 1: none
      --copies                   each machine may have copies of the inputs
      --overwrite                replace a folder that is not empty
      --address=ADDRESS          of a cluster that runs; without it one is started here
      --object-store-memory=SIZE of the cluster that is started here (Ray's choice)
      --dry-run                  print the plan and do nothing
      --stats[=FILE]             write a report as JSON to FILE; without FILE, as text to
                                 standard error
      --[no-]progress            show how many tasks are done
      --help, --version          print this, or the version, and exit"""
#: Options, with : or = if an argument follows.
OWN = """
    -o: -S: -T: --output= --buffer-size= --temporary-directory= --ranges= --group= --overwrite
    --copies --address= --object-store-memory= --dry-run --stats= --progress --no-progress
"""
PASSED = {
    "sort": """
    -b -d -f -g -i -M -n -h -V -r -s -u -z -k: -t: --ignore-leading-blanks --dictionary-order
    --ignore-case --general-numeric-sort --ignore-nonprinting --month-sort --numeric-sort
    --human-numeric-sort --version-sort --reverse --stable --unique --zero-terminated --csv
    --count --key= --field-separator= --sort= --record-size= --bkey= --header= --json --strict
""",
    "join": """
    -1: -2: -j: -t: -a: -v: -e: -i -z --columns= --type= --record-size= --bkey= --header=
    --ignore-case --zero-terminated --csv
""",
    "group": """
    -k: -a: -t: -z --key= --agg= --largest= --having= --order= --format= --where=
    --field-separator= --header= --null= --skip-invalid --zero-terminated --csv --json --strict
""",
}
REFUSED = {
    "-c --check=": "checking is one pass over each part: use xsort -c",
    "-C": "checking is one pass over each part: use xsort -C",
    "-m --merge": "pieces of the inputs are sorted in any case",
    "-R --random-sort": "each machine would draw an order of its own",
    "--limit= --top=": "each range would have to know of the others: use head on the first parts",
    "--split=": "the parts are cut at splitters that are sampled: see --ranges",
    "--splitters=": "they are sampled: see --ranges",
    "--resume=": "Ray runs lost tasks again by itself",
    "--volume=": "tasks run on the machines of the cluster",
    "--decompress=": "a compressed file cannot be read in pieces",
    "--compress-output=": "parts are written as they are",
    "--debug": "it explains keys line by line: use xsort --debug on a sample",
}
#: Arguments that can only be joined to their options, and what stands for none.
OPTIONAL = {"--header": "1", "--stats": "", "--check": "", "--decompress": ""}

LONG = {"-o": "--output", "-S": "--buffer-size", "-T": "--temporary-directory"}


class Option(NamedTuple):
    name: str
    value: str
    args: list[str]


class Command(NamedTuple):
    name: str
    own: dict[str, str]  #: options of spindle-ray, by their long names
    passed: list[Option]
    inputs: list[list[str]]  #: of each side


def _names(table: str) -> list[str]:
    return re.sub("[:=]", "", table).split()


def options_of(args: Sequence[str], *tables: str) -> tuple[list[Option], list[str]]:
    """The options among args, and the other arguments."""
    table = " ".join(tables).split()
    found, rest = getopt.gnu_getopt(
        [f"{w}={OPTIONAL[w]}" if w in OPTIONAL else w for w in args],
        "".join(o[1:] for o in table if o[1] != "-"),
        [o[2:] for o in table if o[1] == "-"],
    )
    options = []
    for name, value in found:
        spelled = [name] if name in table else [name, value]
        options.append(Option(name, value, ["=".join(spelled)] if name[1] == "-" else spelled))
    return options, rest


def parsed(argv: Sequence[str]) -> Command:
    """What follows -- are the files of the second side of a join."""
    command, args, right = "".join(argv[:1]), list(argv[1:]), []
    if command not in PASSED:
        raise ValueError(f"'{command}' is neither sort, join, group nor config: see --help")
    tables = (OWN, PASSED[command], *REFUSED)
    for at in (i for i, arg in enumerate(args) if arg == "--" and command == "join"):
        with contextlib.suppress(getopt.GetoptError):  # it may be the argument of an option
            options_of(args[:at], *tables)
            args, right = args[:at], args[at + 1 :]
            break
    options, left = options_of(args, *tables)
    for table, reason in REFUSED.items():
        for name in (o.name for o in options if o.name in _names(table)):
            raise ValueError(f"{name} is not possible on more than one machine: {reason}")
    own = _names(OWN)
    return Command(
        command,
        {LONG.get(o.name, o.name): o.value for o in options if o.name in own},
        [o for o in options if o.name not in own],
        [left, right] if command == "join" else [left],
    )


def args_of(options: Sequence[Option], without: Sequence[str] = ()) -> list[str]:
    return [arg for o in options if o.name not in without for arg in o.args]


def absolute(path: str) -> str:
    """The same file for processes that run in other folders."""
    return os.path.join(os.getcwd(), path)


def work_of(c: Command) -> Work:
    """Whatever can be refused before there is a cluster, is."""
    if not c.own.get("--output"):
        raise ValueError("-o/--output is needed: the folder of the result")
    folders = c.own["--output"], c.own.get("--temporary-directory")
    if "-" in (*folders, *itertools.chain(*c.inputs)):
        raise ValueError(
            "-: other machines cannot use a standard stream: give a name, or ./- for a file "
            "called -"
        )
    shown = "--progress" in c.own or sys.stderr.isatty()
    c = c._replace(inputs=[list(map(absolute, side)) for side in c.inputs])
    tmpdir, output = c.own.get("--temporary-directory"), absolute(c.own["--output"])
    inputs = seen_of(c, output)
    work = Work(
        inputs=c.inputs,
        output=output,
        memory_bytes=memory_of(c.own.get("--buffer-size", "256M")),
        seen=inputs,
        copies="--copies" in c.own,
        tmpdir=tmpdir and absolute(tmpdir),
        overwrite="--overwrite" in c.own,
        ranges=number(c, "--ranges"),
        group=number(c, "--group"),
        progress=shown and "--no-progress" not in c.own,
        **OPTIONS[c.name](c),
    )
    work.options(work.result_args, KINDS[c.name])
    for side in range(len(work.inputs)):
        work.files(side)
    files.check(work.output, work.overwrite)
    return work


def seen_of(c: Command, output: str) -> dict[str, Seen]:
    """What the inputs are; the outputs are others."""
    stats, found = c.own.get("--stats") or "-", {}
    if stats != "-" and within(stats, output):
        raise ValueError(f"{stats}: lies in {output}, which the result replaces")
    for path in (path for side in c.inputs for path in side):
        found[path] = seen.look(path)
        if within(path, output):
            raise ValueError(f"{path}: lies in {output}, which the result replaces")
        if os.path.exists(stats) and os.path.samefile(stats, path):
            raise ValueError(f"{path}: an input, and the file of --stats")
        if "--copies" in c.own:
            found[path] = found[path].copied()
    return found


def within(path: str, folder: str) -> bool:
    """By any name of the folder: through links, and where it is mounted again."""
    if not os.path.isdir(folder):
        return False
    return any(os.path.samefile(parent, folder) for parent in Path(os.path.realpath(path)).parents)


def number(c: Command, name: str) -> int:
    """0: not given."""
    text = c.own.get(name, "")
    if text and not (text.isdecimal() and int(text)):
        raise ValueError(f"{name} {text}: at least 1")
    return int(text or 0)


def sort_options(c: Command) -> dict[str, Any]:
    if not c.inputs[0]:
        raise ValueError("no files to sort")
    passed, given = c.passed, Options(args_of(c.passed))
    if given.info.named:
        given = given.numbered(c.inputs[0][0])
        passed, _ = options_of(given.args, PASSED["sort"])
    if given.info.random:
        raise ValueError("a key with R is not possible: each machine would draw its own order")
    counted = given.info.count
    if counted and not given.info.unique:
        raise ValueError("--count needs --unique")
    # To be counted, all records of a group must come to their range.
    dropped = ["--header", "-u", "--unique", "--count"] if counted else ["--header"]
    return {
        "piece_args": [args_of(passed, dropped) + ["-s"] * counted],
        "header_args": args_of([o for o in passed if o.name == "--header"]),
        "result_args": args_of(passed, ["--header"]),
        "external": counted,
    }


def join_options(c: Command) -> dict[str, Any]:
    if not all(c.inputs):
        raise ValueError("the files of both sides are needed, with -- between them")
    if "--group" in c.own:
        raise ValueError("--group is for sorts: blocks of a join are not merged")
    headers = [o.value for o in c.passed if o.name == "--header"]
    if set(headers) - {"1"}:
        raise ValueError("--header takes no argument in a join")
    header, args = ["--header"] * bool(headers), args_of(c.passed, ["--columns", "--header"])
    for columns in (o.value for o in c.passed if o.name == "--columns"):
        if columns == "auto" and not header:
            raise ValueError("--columns=auto needs --header: each range has other first records")
        args += ["-o", columns]
    given = JoinOptions(args + header)
    if given.named:
        given = given.numbered(c.inputs[0][0], c.inputs[1][0])
    return {
        "piece_args": [format_of(c.passed, side) for side in (0, 1)],
        "header_args": header,
        "result_args": given.args,
        "divides": [given.divides(side) for side in (0, 1)],
    }


def group_options(c: Command) -> dict[str, Any]:
    if not c.inputs[0]:
        raise ValueError("no files to group")
    if "--group" in c.own:
        raise ValueError("--group is for sorts: blocks of a grouping are not merged")
    given = {o.name: o.value for o in c.passed}
    if given.get("--order", "key") != "key":
        raise ValueError(
            "--order is not possible on more than one machine: rows have the order of their keys"
        )
    if given.get("--header", "1") != "1":
        raise ValueError("--header takes no argument in a grouping")
    header = ["--header"] * ("--header" in given)
    separator = given.get("-t", given.get("--field-separator", ""))
    separator = {"\\t": "\t", "\\0": "\0"}.get(separator, separator)
    lines = ["-z"] if {"-z", "--zero-terminated"} & set(given) else []
    form = ["--csv", *(["-t", separator] if separator else [])] if "--csv" in given else lines
    names = [o.name for o in c.passed]
    of_groups = names[: names.index("--largest")] if "--largest" in names else names
    return {
        "piece_args": [form],
        "header_args": header,
        "result_args": args_of(c.passed, ["--header"]) + header,
        "keys": sum(name in ("-k", "--key") for name in of_groups),
        "separator": b"" if "--csv" in given else os.fsencode(separator),
        "external": True,
    }


KINDS = {"sort": Options, "join": JoinOptions, "group": GroupOptions}
OPTIONS = {"sort": sort_options, "join": join_options, "group": group_options}


def format_of(passed: Sequence[Option], side: int) -> list[str]:
    """What says where the records of a side of a join end, as options of a sort."""
    given = {o.name: o.value for o in passed}
    sizes = given.get("--record-size")
    if sizes:
        return ["--record-size=" + (sizes.split(",") * 2)[side]]
    if "--csv" in given:
        return ["--csv", *(["-t", given["-t"]] if "-t" in given else [])]
    return ["-z"] if {"-z", "--zero-terminated"} & set(given) else []


def memory_of(text: str) -> int:
    """-S, of which less than a megabyte is no memory for a task."""
    return max(1 << 20, Options(["-S", text]).info.memory_bytes)


#: Spilling begins early and in small files: then it overlaps with the tasks.  The object stores of
#: a sort are full all the time, and Ray's own values (0.8, 100 MB) make tasks wait.  One process
#: that restores keeps up with a device; Ray's four, of Python, take the time of tasks to start.
SPILLING = {
    "object_spilling_threshold": 0.3,
    "min_spilling_size": 32 << 20,
    "max_io_workers": 1,
}


#: Bytes of the name of a socket of Ray, of at most 107, without the folder of all temporary files.
SOCKETS = 85


@contextlib.contextmanager
def cluster(own: dict[str, str]) -> Iterator[None]:
    """Connects to the cluster that is named, or starts one for this command, on the loopback
    interface, whatever others there are; its files are in a folder that others cannot enter."""
    import ray

    quiet: dict[str, Any] = {"logging_level": "error", "log_to_driver": False}
    store = own.get("--object-store-memory")
    if ray.is_initialized():
        yield
    elif "--address" in own:
        ray.init(address=own["--address"], **quiet)
        yield
    else:
        parent = os.environ.get("RAY_TMPDIR") or tempfile.gettempdir()
        short = len(os.fsencode(parent)) <= 107 - SOCKETS
        folder = tempfile.mkdtemp(prefix="sp-ray.", dir=parent if short else "/tmp")
        try:
            ray.init(
                address="local",
                include_dashboard=False,
                object_store_memory=memory_of(store) if store else None,
                _node_ip_address="127.0.0.1",
                _system_config=SPILLING,
                _temp_dir=os.path.join(folder, "r"),  # which Ray opens to everybody
                **quiet,
            )
            yield
        finally:
            ray.shutdown()
            shutil.rmtree(folder, ignore_errors=True)


def refuse_idle(own: dict[str, str]) -> None:
    """Options that could not take effect."""
    if {"--address", "--object-store-memory"} <= set(own):
        raise ValueError("--object-store-memory is of a cluster that is started here: no --address")
    if {"--dry-run", "--stats"} <= set(own):
        raise ValueError("--stats is of a run: no --dry-run")


def run(command: Command) -> None:
    own = command.own
    refuse_idle(own)
    work = work_of(command)
    try:
        from .job import Job
    except ImportError as e:
        raise ValueError(f"{e}; pip install 'spindle-io[ray]'") from e
    with contextlib.ExitStack() as stack:
        write = report_to(own.get("--stats"), stack)
        began = time.monotonic()
        stack.enter_context(cluster(own))
        started = time.monotonic() - began
        job = Job(work)
        if {"--dry-run", "--stats"} & set(own) or work.progress:
            print(job.plan, file=sys.stdout if "--dry-run" in own else sys.stderr)
        if "--dry-run" not in own:
            write({**job.run(), "start_s": started})


def text_of(report: dict[str, Any], indent: str = "") -> str:
    """The lines of a report for people: a key and its value, or the lines of a group."""
    lines = []
    for key, value in report.items():
        name = indent + key.replace("_", " ")
        if isinstance(value, dict):
            lines.append(f"{name}\n{text_of(value, indent + '  ')}")
        elif isinstance(value, list):
            lines += [f"{name}\n{text_of(each, indent + '  ')}" for each in value]
        else:
            shown = f"{value:.6g}" if isinstance(value, float) else str(value)
            lines.append(f"{name:<28}{shown}\n")
    return "".join(lines)


def report_to(stats: str | None, stack: contextlib.ExitStack) -> Callable[[dict[str, Any]], Any]:
    """What writes the report; that a file can be written is known before the work."""
    if stats is None:
        return lambda report: None
    if not stats:
        return lambda report: sys.stderr.write(text_of(report))
    if stats == "-":
        return lambda report: sys.stderr.write(json.dumps(report, indent=2) + "\n")
    write = stack.enter_context(files.written(stats))
    return lambda report: write((json.dumps(report, indent=2) + "\n").encode())


def execute(argv: Sequence[str]) -> None:
    if argv[:1] == ["config"]:
        print(json.dumps(SPILLING))
    elif "--help" in argv:
        print(HELP)
    elif argv[:1] == ["--version"]:
        print(f"spindle-ray {spindle_io.__version__}")
    else:
        run(parsed(argv))


def reason_of(e: BaseException) -> str:
    """What a user can use of an error: that of a task without the traces of machines."""
    cause = getattr(e, "cause", None)
    if isinstance(cause, Exception):
        return reason_of(cause)
    if isinstance(e, OSError) and e.strerror:
        return f"{e.filename}: {e.strerror}" if e.filename else e.strerror
    if isinstance(e, (ValueError, SpindleError, getopt.GetoptError)):
        return str(e)
    return f"{type(e).__name__}: {str(e).strip().splitlines()[0] if str(e) else 'no reason given'}"


def main(argv: Sequence[str] | None = None) -> int:
    with contextlib.suppress(locale.Error):  # as in C, where it stays the one that it is
        locale.setlocale(locale.LC_ALL, "")
    os.environ.setdefault("RAY_IGNORE_UNHANDLED_ERRORS", "1")  # one message is enough
    try:
        execute(list(sys.argv[1:] if argv is None else argv))
    except KeyboardInterrupt:
        return 130
    except Exception as e:
        print(f"spindle-ray: {printable(reason_of(e))}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
