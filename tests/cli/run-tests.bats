#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# scripts/run-tests: what a missing program counts as.

bats_require_minimum_version 1.5.0

setup()
{
	top=$BATS_TEST_DIRNAME/../..
	cd "$BATS_TEST_TMPDIR" || return
	unset CI SP_TEST_STRICT SP_TEST_STAGE SP_TEST_TAGS SP_TEST_COUNTS SP_TEST_WRAP
	cat >whole.t <<-E
		#!/usr/bin/env bash
		. '$top/scripts/needs.bash'
		needs cat
		needs cat no-such-program
		echo 'not ok 1 - not reached'
		echo 1..1
	E
	# (Bats would take a line that begins so for its own.)
	sed 's/^TEST /@test /' >part.bats <<-E
		load '$top/scripts/needs'
		TEST "with it" { needs cat; }
		TEST "without it" { needs no-such-program; false; }
		TEST "something else" { skip "not here"; }
	E
	chmod +x whole.t
}

@test "a test without its program is skipped with the reason" {
	run -0 "$top/scripts/run-tests" whole.t part.bats
	[[ $output == *"skip - all: needs no-such-program"* ]]
	[[ $output == *"skip - without it: needs no-such-program"* ]]
	[ "${lines[-1]}" = "1 passed, 0 failed, 3 skipped" ]
}

@test "under CI it fails, other skips do not" {
	CI=true run -1 "$top/scripts/run-tests" whole.t part.bats
	[[ $output == *"not ok - all skipped, which CI forbids: needs no-such-program"* ]]
	[[ $output == *"not ok - without it (skipped, which CI forbids: needs no-such-program)"* ]]
	[ "${lines[-1]}" = "1 passed, 2 failed, 1 skipped" ]
}

@test "in the strict mode every skip fails" {
	SP_TEST_STRICT=1 run -1 "$top/scripts/run-tests" whole.t part.bats
	[ "${lines[-1]}" = "1 passed, 3 failed, 0 skipped" ]
}
