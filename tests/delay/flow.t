#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Hash joins in plans, which are tasks that meet the plan's thread: the unit tests, which do not use
# the time.

# shellcheck source=tests/delay/lib.bash
. "$(dirname "$0")/lib.bash"

# A seed takes 20 s: a fortieth of those of the other parts, unless they are given.
[ -n "${2:-}" ] || last=$((first + (last - first) / 40))
unit=$(realpath "$top/${build#"$top/"}/tests/unit/test_flow_hash")

a_hash_join_in_a_plan()
{
	TMPDIR=$work "$unit" >lines 2>&1 || { echo "status $?"; grep -A3 '^not ok' lines || tail -n 3 lines; }
}

seeds a_hash_join_in_a_plan
tap_done
