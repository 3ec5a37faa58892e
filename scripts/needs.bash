# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# For scripts, tests and checkers that use a program which not every system has.
#
#	needs PROGRAM...	skips the bats test, or the whole TAP script, if one is missing
#
#	numpy_python		prints the name of a python3 that has NumPy, or of any
#
# scripts/setup installs these programs; under CI scripts/run-tests counts such a skip as a failure.

numpy_python()
{
	local python

	for python in python3 /usr/bin/python3; do
		! "$python" -c 'import numpy' 2>/dev/null || { echo "$python"; return; }
	done
	echo python3
}

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
