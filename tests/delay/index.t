#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Indexes: threads that read parts of the source fill and sort slots of its entries.

# shellcheck source=tests/delay/lib.bash
. "$(dirname "$0")/lib.bash"

"$xgen" lines --seed=5 --bytes=9M >lines
sort -s -k2,2 lines >want
"$xgen" lines --seed=6 --bytes=5M --words=4 | sed 's/ /,/g; s/,/," quoted\n,""of"" /' >quoted
"$xindex" build --csv -k2,2 -S 16M --parallel=1 -o want-quoted quoted || exit 2

a_build()
{
	local size=(2M 16M)

	"$xindex" build -k2,2 -S "${size[$1 % 2]}" -T tmp --parallel="${threads[$1 % 3]}" -o index lines 2>err &&
		env -u SP_TASK_DELAY "$xindex" range index >out 2>err
	same want $?
}

a_checked_build()
{
	"$xindex" build --csv -k2,2 -S 2M -T tmp --parallel="${threads[$1 % 3]}" -o out quoted 2>err &&
		"$xindex" check --parallel="${threads[$1 % 3]}" out >checked 2>err
	same want-quoted $?
}

seeds a_build
seeds a_checked_build
tap_done
