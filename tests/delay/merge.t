#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The branches of a final merge.

# shellcheck source=tests/delay/lib.bash
. "$(dirname "$0")/lib.bash"

"$xgen" records --seed=7 --bytes=9M >many
sort many >want

a_merge()
{
	merged "$1" many >out
	same want $?
}

seeds a_merge
tap_done
