# SPDX-License-Identifier: MIT
"""python -m spindle_io --version"""

import sys

from . import __version__

if sys.argv[1:] == ["--version"]:
    print(f"spindle_io {__version__}")
else:
    print("usage: python -m spindle_io --version", file=sys.stderr)
    sys.exit(2)
