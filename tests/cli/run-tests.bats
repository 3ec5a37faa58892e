#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# scripts/run-tests: how missing programs count, the order of tests, the list of the slowest, the limit of
# processor time, and the start of Python.  scripts/room-tests: each room has tests.
. "$BATS_TEST_DIRNAME/suite.bash"


setup()
{
	top=$BATS_TEST_DIRNAME/../..
	begin_test
	unset CI SP_TEST_CPU SP_TEST_STRICT SP_TEST_STAGE SP_TEST_TAGS SP_TEST_COUNTS SP_TEST_WRAP
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

@test "a program that tests nothing fails, unless tags left nothing" {
	printf '#!/bin/sh\necho 1..0\n' >none.t
	printf "#!/usr/bin/env bash\n. '%s/scripts/tap.bash'\ntap_done\n" "$top" >empty.t
	chmod +x none.t empty.t
	run -1 "$top/scripts/run-tests" none.t empty.t part.bats
	[[ $output == *"not ok - nothing was tested, and no reason given"* ]]
	[[ $output == *"not ok 1 - something is checked"* ]]
	[ "${lines[-1]}" = "1 passed, 2 failed, 2 skipped" ]
	SP_TEST_TAGS=no-such run -0 "$top/scripts/run-tests" part.bats whole.t
	[ "${lines[-1]}" = "0 passed, 0 failed, 1 skipped" ]
}

@test "tests in Python count as they end" {
	needs python3
	cat >few.py <<-E
		import os, sys, unittest
		sys.path.insert(0, "$top/tests/python")
		import tap
		class Few(unittest.TestCase):
		    def test_good(self): pass
		    def test_skipped(self): self.skipTest("not here")
		    def test_wrong(self): self.assertTrue(False)
		    def test_parts(self):
		        with self.subTest(1): raise OSError
		    def test_killed(self): os.kill(os.getpid(), 9)
		unittest.main(testRunner=tap.Runner)
	E
	printf "#!/usr/bin/env bash\n. '%s/scripts/tap.bash'\ntap_lines '%s/log' python3 '%s/few.py' \$TESTS\ntap_done\n" \
		"$top" "$PWD" "$PWD" >few.t
	chmod +x few.t
	TESTS='Few.test_good Few.test_skipped' run -0 "$top/scripts/run-tests" few.t
	[ "${lines[-1]}" = "2 passed, 0 failed, 1 skipped" ]
	TESTS='Few.test_good Few.test_wrong Few.test_parts' run -1 "$top/scripts/run-tests" few.t
	[ "${lines[-1]}" = "1 passed, 3 failed, 0 skipped" ]
	TESTS='Few.test_good Few.test_killed' run -1 "$top/scripts/run-tests" few.t
	[ "${lines[-1]}" = "1 passed, 1 failed, 0 skipped" ]
}

@test "tests start the interpreter behind a python3 that is a script" {
	needs python3
	real=$(python3 -c 'import sys; print(sys.executable)')
	mkdir bin
	printf '#!/bin/sh\necho >>"%s/starts"\nexec "%s" "$@"\n' "$PWD" "$real" >bin/python3
	printf '#!/usr/bin/env bash\n[ "$(python3 -c "import sys; print(sys.executable)")" = "%s" ] && python3 -c "" && echo ok\necho 1..1\n' \
		"$real" >two.t
	chmod +x bin/python3 two.t
	unset SP_TEST_PYTHON
	PATH=$PWD/bin:$PATH run -0 "$top/scripts/run-tests" two.t
	[ "$(wc -l <starts)" -eq 1 ]
	SP_TEST_PYTHON=none PATH=$PWD/bin:$PATH run -0 "$top/scripts/run-tests" two.t
	[ "$(wc -l <starts)" -eq 3 ]
}

@test "in the strict mode every skip fails" {
	SP_TEST_STRICT=1 run -1 "$top/scripts/run-tests" whole.t part.bats
	[ "${lines[-1]}" = "1 passed, 3 failed, 0 skipped" ]
}

@test "the ten slowest of more programs are listed, with elapsed and CPU seconds" {
	for n in {10..19}; do printf '#!/bin/sh\necho ok\necho 1..1\n' >$n.t; done
	printf '#!/bin/sh\nsleep 0.3\necho ok\necho 1..1\n' >sleeps.t
	chmod +x ./*.t
	run -0 "$top/scripts/run-tests" {10..18}.t sleeps.t
	[[ $output != *slowest* ]]
	run -0 "$top/scripts/run-tests" {10..19}.t sleeps.t
	[ "${lines[-1]}" = "11 passed, 0 failed, 0 skipped" ]
	[ "${lines[-13]}" = "The ten slowest:" ]
	[[ ${lines[-12]} =~ ^\ +elapsed\ +CPU$ ]]
	printf '%s\n' "${lines[@]: -11:10}" >list
	[ "$(grep -cE '^ +[0-9]+\.[0-9] +[0-9]+\.[0-9]  [a-z0-9]+\.t$' list)" = 10 ]
	sort -rn -c list
	grep -E '^ +([1-9]|0\.[3-9]).* sleeps.t$' list
}

@test "slow scripts start first, or are left out" {
	for n in a b c; do printf '#!/bin/sh\necho ok\necho 1..1\n' >$n.t; done
	echo '# file_tags=slow' >>c.t
	sed 's/^TEST /@test /' >slow.bats <<-E
		# bats file_tags=slow
		TEST "it is" { true; }
	E
	chmod +x ./*.t
	SP_TEST_JOBS=1 run -0 "$top/scripts/run-tests" a.t b.t c.t slow.bats
	[[ ${lines[0]} == *c.t* && ${lines[1]} == *slow.bats* && ${lines[2]} == *a.t* ]]
	SP_TEST_TAGS='!slow' run -0 "$top/scripts/run-tests" a.t b.t c.t slow.bats
	[[ ${lines[-1]} == "2 passed, 0 failed, 0 skipped" && $output != *slow.bats* ]]
}

@test "a test that takes too much processor time fails, unless it is tagged slow" {
	printf '#!/bin/bash\nfor ((n = 0; n < 200000; n++)); do :; done\necho ok\necho 1..1\n' >busy.t
	printf '#!/bin/sh\nsleep 0.4\necho ok\necho 1..1\n' >waits.t
	mkdir -p tests/unit build/tests/unit
	for name in slow "slow one's neighbour"; do cp busy.t "build/tests/unit/$name"; done
	echo '#define TAP_SLOW' >tests/unit/slow.c
	echo '#define TAP_SLOWER' >"tests/unit/slow one's neighbour.c"
	{ cat busy.t && echo '# file_tags=slow'; } >tagged.t
	chmod +x ./*.t build/tests/unit/*
	SP_TEST_CPU=0.1 run -1 "$top/scripts/run-tests" busy.t waits.t tagged.t build/tests/unit/*
	[ "${lines[-1]}" = "5 passed, 2 failed, 0 skipped" ]
	reason='  not ok - took [0-9.]* seconds of processor time, at most 0.1 are allowed: make it quicker, or tag it slow'
	[ "$(printf '%s\n' "${lines[@]}" | grep -cx "$reason")" = 2 ]
	grep -q 'busy.t: 1 passed, 1 failed ([0-9.]* s, CPU [0-9.]* s)' <<<"$output"
	SP_TEST_CPU=60 run -0 "$top/scripts/run-tests" busy.t
	run -0 "$top/scripts/run-tests" busy.t
}

@test "each room of the library has tests, which make check ROOM=NAME runs" {
	local room lists=$PWD/lists

	mkdir "$lists"
	cd "$top"
	for room in lib/*/; do
		room=${room%/} room=${room#lib/}
		[ "$room" = include ] || scripts/room-tests "$room" >"$lists/$room"
		[ "$room" = include ] || [ -s "$lists/$room" ]
	done
	cat "$lists"/* | sort -u | xargs ls >/dev/null
	grep -x tests/unit/test_table_scan.c "$lists/table"
	grep -x tests/cli/xtable.bats "$lists/table"
	run -1 grep -E 'xsort|xjoin|cube' "$lists/table"
	run --separate-stderr scripts/room-tests nosuch
	[ "$status" -eq 2 ]
	[ "${stderr:-}" = "room-tests: 'nosuch' is not a room: these are the folders of lib/" ]
}
