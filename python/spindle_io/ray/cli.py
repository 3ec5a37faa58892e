# SPDX-License-Identifier: MIT
"""The command spindle-ray: its options, messages and status.

Options of order and format are passed through as they stand; only how many words they take is
known here.
"""

from __future__ import annotations

import argparse
import json
import locale
import os
import sys
import time
from collections.abc import Sequence
from typing import Any

import spindle_io
from spindle_io import Options, SpindleError

REFUSED = {
    ("-c", "--check"): "checking is one pass over each part: use xsort -c",
    ("-C",): "checking is one pass over each part: use xsort -C",
    ("-m", "--merge"): "pieces of the inputs are sorted in any case",
    ("-R", "--random-sort"): "each machine would draw an order of its own",
    ("--top",): "each range would have to know of the others: use head on the first parts",
    ("--split",): "the parts are cut at splitters that are sampled: see --ranges",
    ("--splitters",): "they are sampled: see --ranges",
    ("--resume",): "Ray runs lost tasks again by itself",
    ("--volume",): "tasks run on the machines of the cluster",
    ("--decompress",): "a compressed file cannot be read in pieces",
    ("--compress-output",): "parts are written as they are",
    ("--debug",): "it explains keys line by line: use xsort --debug on a sample",
}
#: Options of xsort and xjoin: their names, and = where an argument follows.
SORT = """
    -b/--ignore-leading-blanks -d/--dictionary-order -f/--ignore-case -g/--general-numeric-sort
    -i/--ignore-nonprinting -M/--month-sort -n/--numeric-sort -h/--human-numeric-sort
    -V/--version-sort -r/--reverse -s/--stable -u/--unique -z/--zero-terminated --csv --count
    -k/--key= -t/--field-separator= --sort= --record-size= --bkey= --header=
"""
JOIN = """
    -1= -2= -j= -t= -a= -v= -e= --columns= --type= --record-size= --bkey= --header=
    -i/--ignore-case -z/--zero-terminated --csv
"""


class Keep(argparse.Action):
    """Keeps an option for the library, as one word or two."""

    def __call__(self, parser: Any, namespace: Any, value: Any, option: str | None = None) -> None:
        words = [option] if self.nargs == 0 else [option, value]
        namespace.words = [*namespace.words, (self.dest, words)]


class Refuse(argparse.Action):
    def __call__(self, parser: Any, namespace: Any, value: Any, option: str | None = None) -> None:
        parser.error(f"{option} is not possible on more than one machine: {REFUSED[self.const]}")


class Parser(argparse.ArgumentParser):
    """One message, and status 2."""

    def error(self, message: str) -> Any:
        raise ValueError(message)


def _add_own(p: argparse.ArgumentParser) -> None:
    add = p.add_argument_group("options of spindle-ray").add_argument
    said = "the parts go there; it appears when all are complete"
    add("-o", "--output", metavar="FOLDER", required=True, help=said)
    said = "memory of one task (256M)"
    add("-S", "--buffer-size", metavar="SIZE", default="256M", dest="memory", help=said)
    said = "on each machine, for ranges that are merged in files"
    add("-T", "--temporary-directory", metavar="DIR", dest="tmpdir", help=said)
    add("--ranges", type=int, default=0, metavar="N", help="parts of the result")
    said = "pieces whose blocks are merged on their node; 1: none"
    add("--group", type=int, metavar="N", help=said)
    add("--overwrite", action="store_true", help="replace a folder that is not empty")
    add("--address", help="of a cluster that runs; without it one is started here")
    said = "of the cluster that is started here (Ray's choice)"
    add("--object-store-memory", metavar="SIZE", help=said)
    add("--dry-run", action="store_true", help="print the plan and do nothing")
    said = "write the report as JSON; without FILE to standard error"
    add("--stats", metavar="FILE", help=said)
    yes_or_no: Any = argparse.BooleanOptionalAction
    said = "show how many tasks are done"
    add("--progress", action=yes_or_no, default=sys.stderr.isatty(), help=said)
    add("--help", action="help", help="print this and exit")


def _add_passed(p: argparse.ArgumentParser, options: str) -> None:
    hidden: Any = {"help": argparse.SUPPRESS, "default": argparse.SUPPRESS}
    passed = p.add_argument_group("options of order and format, as xsort and xjoin have them")
    taken: set[str] = set()
    for option in options.split():
        names, nargs = option.rstrip("=").split("/"), None if option.endswith("=") else 0
        taken.update(names)
        passed.add_argument(*names, action=Keep, nargs=nargs, dest=names[-1], **hidden)
    for names in REFUSED:
        if not taken.intersection(names):
            p.add_argument(*names, action=Refuse, nargs="?", const=names, dest="refused", **hidden)


def parser() -> argparse.ArgumentParser:
    p = Parser(
        prog="spindle-ray", description="Sorts and joins files on the machines of a Ray cluster."
    )
    p.add_argument("--version", action="version", version=f"spindle-ray {spindle_io.__version__}")
    commands = p.add_subparsers(dest="command", required=True, metavar="sort|join|config")
    sort = commands.add_parser(
        "sort", add_help=False, usage="spindle-ray sort [option]... -o FOLDER FILE..."
    )
    _add_own(sort)
    _add_passed(sort, SORT)
    sort.add_argument("inputs", nargs="*", metavar="FILE")
    sort.set_defaults(words=[], settings=sort_settings)
    join = commands.add_parser(
        "join",
        add_help=False,
        usage="spindle-ray join [option]... -o FOLDER FILE1... -- FILE2...",
    )
    _add_own(join)
    _add_passed(join, JOIN)
    join.add_argument("inputs", nargs="*", metavar="FILE")
    join.set_defaults(words=[], settings=join_settings, right=[])
    commands.add_parser("config", add_help=False, usage="spindle-ray config")
    return p


#: Arguments that can only be joined to their options, and what stands for none.
OPTIONAL = {"--header": "1", "--stats": "-"}


def joined(argv: Sequence[str]) -> list[str]:
    """The words, with their arguments for options that may lack them."""
    end = argv.index("--") if "--" in argv else len(argv)
    return [f"{w}={OPTIONAL[w]}" if w in OPTIONAL else w for w in argv[:end]] + list(argv[end:])


def words_of(pairs: Sequence[tuple[str, list[str]]], without: Sequence[str] = ()) -> list[str]:
    """The words of the options kept, but for some."""
    found: list[str] = []
    for name, words in pairs:
        if name in without:
            continue
        found += ["=".join(words)] if words[0].startswith("--") else words
    return found


def pairs_of(words: Sequence[str]) -> list[tuple[str, list[str]]]:
    """The same of words that have their arguments in them: a letter's follows it.

    An empty one of a letter is the next word.
    """
    pairs, rest = [], iter(words)
    for w in rest:
        if w.startswith("--"):
            pairs.append((w.partition("=")[0], [w]))
        else:
            pairs.append((w[:2], [w[:2], w[2:] or next(rest)]))
    return pairs


def sort_settings(args: Any) -> Any:
    from .job import Settings

    if not args.inputs:
        raise ValueError("no files to sort")
    given = Options(words_of(args.words))
    if given.info.named:
        given = given.numbered(args.inputs[0])
        args.words = pairs_of(given.words)
    if given.info.random:
        raise ValueError("a key with R is not possible: each machine would draw its own order")
    names = {name for name, _ in args.words}
    counted = "--count" in names
    if counted and "--unique" not in names:
        raise ValueError("--count needs --unique")
    # To be counted, all records of a group must come to their range.
    keep_all = ["--header", "--unique", "--count"] if counted else ["--header"]
    piece_words = words_of(args.words, keep_all) + (["-s"] if counted else [])
    return Settings(
        command="sort",
        inputs=[args.inputs],
        output=args.output,
        piece_words=[piece_words],
        header_words=words_of([pair for pair in args.words if pair[0] == "--header"]),
        result_words=words_of(args.words, ["--header"]),
        memory_bytes=memory_of(args.memory),
        external=counted,
        **own_settings(args),
    )


def join_settings(args: Any) -> Any:
    from . import keys
    from .job import Settings

    if not args.inputs or not args.right:
        raise ValueError("the files of both sides are needed, with -- between them")
    header = [words for name, words in args.words if name == "--header"]
    pairs = [
        ("-o", ["-o", words[1]]) if name == "--columns" else (name, words)
        for name, words in args.words
        if name != "--header"
    ]
    given = spindle_io.JoinOptions(words_of(pairs) + ["--header"] * bool(header))
    if given.named:
        given = given.numbered(args.inputs[0], args.right[0])
        pairs = pairs_of([w for w in given.words if w != "--header"])
    result_words = list(given.words)
    own = keys.of(pairs)
    return Settings(
        command="join",
        inputs=[args.inputs, args.right],
        output=args.output,
        piece_words=[own.words(0), own.words(1)],
        header_words=["--header"] * bool(header),
        result_words=result_words,
        memory_bytes=memory_of(args.memory),
        keys=own,
        **own_settings(args),
    )


def own_settings(args: Any) -> dict[str, Any]:
    from .job import Settings, show_progress

    own = {
        "ranges": args.ranges,
        "group": args.group,
        "tmpdir": args.tmpdir,
        "overwrite": args.overwrite,
    }
    for name in ("ranges", "group"):
        if own[name] is not None and own[name] < 0:
            raise ValueError(f"--{name} {own[name]}: at least 1")
    return {**own, "progress": show_progress if args.progress else Settings.progress}


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


def start_ray(address: str | None, store: str | None) -> None:
    """Connects to a cluster, or starts one for this command, on the loopback interface."""
    import ray

    if ray.is_initialized():
        return
    common: dict[str, Any] = {"logging_level": "error", "log_to_driver": False}
    if address:
        ray.init(address=address, **common)
    else:
        if store:
            common["object_store_memory"] = memory_of(store)
        ray.init(
            include_dashboard=False,
            _node_ip_address="127.0.0.1",
            _system_config=SPILLING,
            **common,
        )


def write_report(report: dict[str, Any], to: str) -> None:
    text = json.dumps(report, indent=2) + "\n"
    if to == "-":
        sys.stderr.write(text)
        return
    with open(f"{to}.part", "w", encoding="utf-8") as f:
        f.write(text)
    os.replace(f"{to}.part", to)


def parsed(argv: Sequence[str]) -> argparse.Namespace:
    """What follows -- are the files of the second side of a join."""
    words, right = joined(argv), []
    if "--" in words and words[0] == "join":
        right = words[words.index("--") + 1 :]
        words = words[: words.index("--")]
    args = parser().parse_args(words)
    if right:
        args.right = right
    return args


def execute(args: Any) -> None:
    if args.command == "config":
        print(json.dumps(SPILLING))
        return
    try:
        from .job import Job
    except ImportError as e:
        raise ValueError(f"{e}; pip install 'spindle-io[ray]'") from e
    settings = args.settings(args)
    settings.check()
    began = time.monotonic()
    start_ray(args.address, args.object_store_memory)
    started = time.monotonic() - began
    job = Job(settings)
    if args.dry_run:
        print("\n".join(job.plan.lines()))
        return
    if args.progress or args.stats:
        print("\n".join(job.plan.lines()), file=sys.stderr)
    report = {**job.run(), "start_s": started}
    if args.stats:
        write_report(report, args.stats)


def reason_of(e: BaseException) -> str:
    """What a user can use of an error: that of a task without the traces of machines."""
    cause = getattr(e, "cause", None)
    if isinstance(cause, Exception):
        return reason_of(cause)
    if isinstance(e, OSError) and e.strerror:
        return f"{e.filename}: {e.strerror}" if e.filename else e.strerror
    if isinstance(e, (ValueError, SpindleError)):
        return str(e)
    return f"{type(e).__name__}: {str(e).strip().splitlines()[0] if str(e) else 'no reason given'}"


def main(argv: Sequence[str] | None = None) -> int:
    locale.setlocale(locale.LC_ALL, "")
    os.environ.setdefault("RAY_IGNORE_UNHANDLED_ERRORS", "1")  # one message is enough
    try:
        execute(parsed(sys.argv[1:] if argv is None else argv))
    except KeyboardInterrupt:
        return 130
    except Exception as e:
        print(f"spindle-ray: {reason_of(e)}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
