#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Random tables of all types, layouts and styles: they come back byte for byte, and answer as a
# naive program and as SQLite do.  SP_TEST_FULL=1: twice as many.
# bats file_tags=slow
. "$BATS_TEST_DIRNAME/suite.bash"

full=${SP_TEST_FULL:-}
setup()
{
	needs python3
	begin_test
	export XTABLE=$xtable
}

@test "random tables come back byte for byte" {
	python3 "$BATS_TEST_DIRNAME/xtable_random.py" round 1 $((full ? 60 : 30))
}

@test "random questions have the answers of lists in memory" {
	python3 "$BATS_TEST_DIRNAME/xtable_random.py" ask 1000 $((full ? 30 : 15))
}

# SP_TABLE_HISTORIES=N (9): so many sequences, from SEED (3000).
@test "after each of some random changes all answers are those of lists in memory" {
	python3 "$BATS_TEST_DIRNAME/xtable_history.py" "${SEED:-3000}" "${SP_TABLE_HISTORIES:-9}"
}

@test "random predicates select the records that SQLite selects" {
	python3 "$BATS_TEST_DIRNAME/xtable_random.py" sqlite 2000 $((full ? 15 : 8))
}
