#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# A final merge whose reader leaves.

# shellcheck source=tests/delay/lib.bash
. "$(dirname "$0")/lib.bash"

"$xgen" records --seed=7 --bytes=9M >many
sort many >want

an_abandoned_merge()
{
	local lines=$(($1 * 13 % 9000))

	merged "$1" many | head -n $lines >out
	head -n $lines want >some
	same some 0
}

seeds an_abandoned_merge
tap_done
