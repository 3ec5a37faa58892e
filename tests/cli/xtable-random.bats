#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Random tables of all types, layouts and styles: they come back byte for byte, and answer as a
# naive program and as SQLite do.
# bats file_tags=slow
. "$BATS_TEST_DIRNAME/suite.bash"

setup()
{
	needs python3
	begin_test
	export XTABLE=$xtable
}

@test "random tables come back byte for byte" {
	python3 "$BATS_TEST_DIRNAME/xtable_random.py" round 1 60
}

@test "random questions have the answers of lists in memory" {
	python3 "$BATS_TEST_DIRNAME/xtable_random.py" ask 1000 30
}

# SP_TABLE_HISTORIES=N (18): so many sequences, from SEED (3000).
@test "after each of some random changes all answers are those of lists in memory" {
	python3 "$BATS_TEST_DIRNAME/xtable_history.py" "${SEED:-3000}" "${SP_TABLE_HISTORIES:-18}"
}

@test "random predicates select the records that SQLite selects" {
	python3 "$BATS_TEST_DIRNAME/xtable_random.py" sqlite 2000 15
}
