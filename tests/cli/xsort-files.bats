#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# No record is lost and no file is left: output files, signals, full devices.
. "$BATS_TEST_DIRNAME/suite.bash"

setup()
{
	begin_test tmp
	printf 'b\na\nc\n' >abc
}

# Waits until the program is at work: it has read some of its input.
feed() # SIGNAL
{
	local pid status=0

	mkfifo in
	# A shell lets background programs ignore SIGINT.
	env --default-signal "$xsort" -S 1M -o out abc in &
	pid=$!
	exec 9>in
	seq 200000 >&9
	kill "-$1" "$pid"
	wait "$pid" || status=$?
	exec 9>&-
	[ "$status" -eq $((128 + $(kill -l "$1"))) ] || { echo "status $status"; return 1; }
	[ -z "$(ls tmp)" ]
	[ "$(ls)" = "${2:-$'abc\nin\ntmp'}" ] || { ls; return 1; }
}

@test "SIGINT, SIGTERM and SIGHUP end it by the signal and leave no files" {
	for sig in TERM HUP INT; do
		rm -f in
		feed "$sig"
	done
}

@test "an old output file survives a signal" {
	echo old >out
	feed TERM $'abc\nin\nout\ntmp'
	[ "$(cat out)" = old ]
}

@test "an ignored signal stays ignored" {
	(
		trap '' HUP
		mkfifo in
		"$xsort" -o out in &
		pid=$!
		exec 9>in
		kill -HUP "$pid"
		echo x >&9
		exec 9>&-
		wait "$pid"
	)
	[ "$(cat out)" = x ]
}

@test "the output may be the input, its mode is kept" {
	chmod 640 abc
	"$xsort" -o abc abc
	[ "$(cat abc)" = $'a\nb\nc' ]
	[ "$(stat -c %a abc)" = 640 ]
	[ "$(ls)" = $'abc\ntmp' ]
}

@test "a new output file has the mode of the umask" {
	(umask 027 && "$xsort" -o out abc)
	[ "$(stat -c %a out)" = 640 ]
}

@test "a link stays a link, a file with two names keeps both" {
	ln -s abc link
	"$xsort" -o link abc
	[ -L link ]
	[ "$(cat abc)" = $'a\nb\nc' ]
	printf '2\n1\n' >two
	ln two names
	"$xsort" -o two two
	[ "$(cat names)" = $'1\n2' ]
}

@test "after an error the old output is as it was" {
	echo old >out
	run -2 "$xsort" -o out abc nofile
	[ "$(cat out)" = old ]
	run -2 "$xsort" -o out abc .
	[ "$(cat out)" = old ]
	run -2 "$xsort" -S 1M -T nodir -o out <(seq 300000)
	[[ $output == "xsort: cannot create temporary file in 'nodir': No such file or directory: -T "*" free" ]]
	[ "$(cat out)" = old ]
	[ "$(ls)" = $'abc\nout\ntmp' ]
}

@test "a temporary directory that is full is an error with its name" {
	[ "$(stat -f -c %T /dev/shm 2>/dev/null)" = tmpfs ] || skip "no tmpfs at hand"
	# Limits file sizes, in blocks of 1 KiB: beyond it writes fail with EFBIG.
	run -2 bash -c "ulimit -f 200; seq 300000 | '$xsort' -S 1M -T tmp >/dev/null"
	[[ $output == *"xsort: write failed: "*"File too large"* ]]
	[ -z "$(ls tmp)" ]
}

@test "a closed pipe ends it as GNU sort" {
	run bash -c "set -o pipefail; seq 300000 | '$xsort' | head -n 1"
	[ "$status" -eq 141 ]
}

@test "xsort works with seven file descriptors" {
	seq 300000 | tac >n
	(ulimit -n 7 && "$xsort" -n -S 1M -o out n)
	seq 300000 | cmp - out
}

@test "compressing programs: a failure is reported, no files are left" {
	seq 300000 >n
	run -2 "$xsort" -S 1M --compress-program=false -o out n
	[ "$output" = "xsort: 'false' [-d] terminated abnormally" ]
	[ -z "$(ls tmp)" ]
}

@test "-S beyond the process's limits is lowered" {
	[ -z "${SP_TEST_VARIANT:-}" ] || skip "sanitizers need terabytes of addresses"
	(ulimit -v 2000000 && "$xsort" -S 90% -o out abc)
	[ "$(cat out)" = $'a\nb\nc' ]
	"$xsort" -S 100T -o out abc
	[ "$(cat out)" = $'a\nb\nc' ]
}

# grown WANT COMMAND...: the input "g" gets another last line, or another time, before some of the
# reads; the result is that of the file before or after.
grown()
{
	local want=$1 n change

	shift
	for n in 1 2 ${SP_TEST_FULL:+4} 7 ${SP_TEST_FULL:+9} 20; do
		for change in GROW TOUCH; do
			cp file g
			rm -f hit
			env FAILCALL_AT=$n FAILCALL_CALLS="read pread" FAILCALL_FD_MIN=3 FAILCALL_HIT=hit "FAILCALL_$change=g" \
				LD_PRELOAD="$shim" "$@" >got 2>err || { cat err && return 1; }
			cmp -s got "$want" || { [ $change = GROW ] && cmp -s got "$want".grown; } ||
				{ echo "$change before read $n: $*" >&2 && return 1; }
		done
	done
}

@test "a file that grows while it is read, or whose time changes, is no error" {
	local n

	shim=$(realpath -e "$build/tests/shim/failcall.so") || skip "no shim in this build"
	seq -w 1 90000 >file
	(cat file && tail -1 file) >file.grown
	: >abc.none
	: >abc.none.grown
	for n in $(few 1 2 8); do
		grown file "$xsort" --engine=sync --parallel=$n g
		grown file "$xsort" --engine=sync --parallel=$n -S 600K g
		grown file "$xsort" --engine=sync --parallel=$n -m g abc.none
		grown file "$xsort" --engine=sync --parallel=$n -u g
		grown file "$xsort" --engine=sync --parallel=$n -u --keep-order g
		grown file "$xsort" --engine=sync --parallel=$n -u --keep-order -S 600K g
		grown abc.none "$xsort" --engine=sync --parallel=$n -c g
		grown file "$xjoin" --engine=sync --parallel=$n g file
		grown file "$xjoin" --engine=sync --parallel=$n --algorithm=hybrid --ordered=1 g file
		grown file "$xjoin" --engine=sync --parallel=$n --algorithm=hybrid --ordered=1 -S 1M g file
	done
	# A last line without an end, and one of several threads.
	printf '%s' "$(cat file)" >unended
	mv unended file
	seq -w 1 90000 >sorted
	(sed '$d' sorted && echo 9000090000) >sorted.grown
	grown sorted "$xsort" --engine=sync --parallel=2 g
	grown sorted "$xsort" --engine=sync --parallel=1 g
}
