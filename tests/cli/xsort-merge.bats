#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# -m: sorted files as they come.

bats_require_minimum_version 1.5.0

setup()
{
	xsort=${XSORT:-$BATS_TEST_DIRNAME/../../build/bin/xsort}
	export LC_ALL=C
	cd "$BATS_TEST_TMPDIR" || return
}

@test "merging waits for inputs that are slow" {
	for options in --parallel=1 --parallel=2; do
		run -0 "$xsort" $options -m <(sleep 0.2; echo b; sleep 0.2; echo d) <(echo a; echo c)
		[ "$output" = $'a\nb\nc\nd' ]
	done
}
