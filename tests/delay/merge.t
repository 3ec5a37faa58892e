#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The branches of a final merge, for a pipe, and its parts, for a file.

# shellcheck source=tests/delay/lib.bash
. "$(dirname "$0")/lib.bash"

"$xgen" records --seed=7 --bytes=9M >many
sort many >want

branches()
{
	merged "$1" many | cat >out
	same want "${PIPESTATUS[0]}"
}

parts()
{
	merged "$1" many >out
	same want $?
}

seeds branches
seeds parts
tap_done
