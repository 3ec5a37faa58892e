# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# What scripts, tests and checkers say of a program that is not in every system.
#
#	needs PROGRAM...	skips the bats test, or all of the TAP script, where one is missing
#
# scripts/setup installs these programs; under CI scripts/run-tests takes such a skip for a failure.

needs()
{
	local program

	for program; do
		command -v "$program" >/dev/null && continue
		! declare -F skip >/dev/null || skip "needs $program"
		echo "1..0 # SKIP needs $program"
		exit 0
	done
}
