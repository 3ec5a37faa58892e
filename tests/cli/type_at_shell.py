# SPDX-License-Identifier: MIT
"""type_at_shell.py SHELL-COMMAND... -- KEYS...: types at an interactive shell in a terminal.

Each of KEYS is a line in which \\t is the TAB key; it is typed when the prompt "ready> " is
there.  Prints what came out between the prompts, without escape sequences.
"""
import os
import pty
import re
import select
import sys

PROMPT = b"ready> "
LONGEST_S = 20  # a shell that hangs


def until_prompt(fd, seen):
    """Reads until the output ends with the prompt, and nothing follows for a moment."""
    while True:
        readable, _, _ = select.select([fd], [], [], LONGEST_S)
        if not readable:
            sys.exit(f"no prompt came, but {seen!r}")
        try:
            seen += os.read(fd, 65536)
        except OSError:
            sys.exit(f"the shell ended: {seen!r}")
        if re.sub(rb"\x1b\[[?0-9;]*[A-Za-z]", b"", seen).rstrip(b"\r").endswith(PROMPT):
            return seen


def main():
    cut = sys.argv.index("--")
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.update(TERM="dumb", PS1=PROMPT.decode(), COLUMNS="200")
        os.execvp(sys.argv[1], sys.argv[1:cut])
    until_prompt(fd, b"")
    for keys in sys.argv[cut + 1:]:
        os.write(fd, keys.replace("\\t", "\t").encode() + b"\n")
        out = until_prompt(fd, b"")
        sys.stdout.write(out.decode(errors="replace").replace("\r", "") + "\n")
    os.write(fd, b"exit\n")
    os.waitpid(pid, 0)


main()
