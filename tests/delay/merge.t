#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# A final merge for a pipe, and its ranges, for a file.

# shellcheck source=tests/delay/lib.bash
. "$(dirname "$0")/lib.bash"

"$xgen" records --seed=7 --bytes=9M >many
sort many >want

piped()
{
	merged "$1" many | cat >out
	same want "${PIPESTATUS[0]}"
}

in_ranges()
{
	merged "$1" many >out
	same want $?
}

seeds piped
seeds in_ranges
tap_done
