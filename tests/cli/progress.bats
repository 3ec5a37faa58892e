#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# The progress line on a terminal: never inside a result, never wider than the terminal, erased at
# the end.
#
# bats file_tags=slow
. "$BATS_TEST_DIRNAME/suite.bash"

setup()
{
	needs script
	begin_test
	export TERM=xterm
	seq 100000 >n
	# Longer than the second in which nothing is drawn.
	printf '#!/bin/sh\ncat n; sleep 1.2; cat n; sleep 1.1; cat n\n' >slow
	chmod +x slow
}

# on_terminal COMMAND: its status; log is what the terminal got, without carriage returns
# at the ends of lines.
on_terminal()
{
	local status=0

	rm -f script.log # script may open it after the command has read it
	SHELL=/bin/bash script -qefc "$1" script.log </dev/null >/dev/null || status=$?
	sed '1d' script.log | sed '/^Script done/d' | sed 's/\r$//' | head -c -1 >log
	return "$status"
}

# The log is one line drawn and wiped, and then exactly what standard input says.
drawn_then()
{
	local draws

	cat >want
	# tr makes lines of what was drawn; the last is empty: it wipes.
	draws=$(head -n 1 log | tr '\r' '\n' | grep -c "^..*$(printf '\033')\[K")
	[ "$draws" -gt 0 ]
	[ "$draws" -lt 20 ]
	sed "1s/^.*\\r$(printf '\033')\[K//" log | cmp - want
}

@test "drawn where the result goes to a regular file" {
	local to

	for to in '>out' '-o n2'; do
		cp n n2
		on_terminal "./slow | $xsort $to"
		drawn_then </dev/null
		grep -q "^.forming runs, [0-9.]* MB" log
	done
	[ "$(wc -l <n2)" -eq 300000 ]
	on_terminal "./slow | $xjoin - n --output=out"
	drawn_then </dev/null
	[ "$(wc -l <out)" -eq 300000 ]
}

@test "not drawn where the result goes elsewhere" {
	for to in '>/dev/null' '| cat' '-o /dev/null'; do
		on_terminal "./slow | $xsort -u --limit=2 $to"
		run ! grep forming log
	done
	on_terminal "./slow | $xjoin -S 512K - <(seq 2)"
	run ! grep reading log
	on_terminal "./slow | $xsort -u --limit=2"
	[ "$(cat log)" = $'1\n10' ]
}

@test "--progress=always is wiped before the first byte of a result" {
	on_terminal "./slow | $xsort -u -n --limit=3 --progress=always"
	seq 3 | drawn_then
	on_terminal "./slow | $xsort -u -n --limit=3 --progress=always | cat"
	seq 3 | drawn_then
	on_terminal "./slow | $xjoin --build=1 --progress=always - <(seq 3) | sort -u"
	seq 3 | drawn_then
}

@test "other tools wipe it before their result" {
	truncate -s 1M target
	on_terminal "$aiobench run --rw=randread --direct=0 --engine=sync --runtime=2.5 target"
	grep -q "IOPS, mean latency .*outstanding$(printf '\033')\[K" log
	sed "1s/^.*\\r$(printf '\033')\[K//" log >rest
	run ! grep "$(printf '\033')" rest
	on_terminal "$diskprobe --quick --progress=always sim:tiny"
	head -n 1 log | grep -q "$(printf '%%\033')\[K"
	sed "1s/^.*\\r$(printf '\033')\[K//" log | cmp - <("$diskprobe" --quick sim:tiny)
}

# seldom COMMAND: it is stopped for a second after it has run for 10, 20, 40 ms and so on, so that the
# line is drawn several times however fast the machine is.
seldom()
{
	local ms=10

	"$@" 3>&- &
	while sleep "$(printf '%d.%03d' $((ms / 1000)) $((ms % 1000)))" && kill -STOP $! 2>/dev/null; do
		sleep 1
		kill -CONT $!
		ms=$((ms * 2))
	done
	wait $!
}

@test "the percentage never falls from phase to phase" {
	seq 1000000 | tac >in
	seldom "$xsort" -S 1M -V --progress=always -o out in 2>err1
	seldom "$xjoin" -S 1M --progress=always --ordered=1 --output=out in in 2>err2
	for err in err1 err2; do
		tr '\r' '\n' <$err | sed -n 's/^\([0-9]*\) %.*: .* of .*/\1/p' >percents
		[ -s percents ]
		sort -n -c percents
		# With a rest or, in the first second, none.
		tr '\r' '\n' <$err | grep ' of ' >lines
		run ! grep -Ev '^[0-9]+ %(, [0-9]+:[0-9][0-9] left)?: ' lines
	done
}

@test "no wider than the terminal" {
	on_terminal "stty cols 12; ./slow | $xsort -o out"
	drawn_then </dev/null
	tr '\r' '\n' <log | sed "s/$(printf '\033')\[K//g" >lines
	run ! grep '............' lines
	on_terminal "stty cols 1; ./slow | $xsort -o out"
	tr '\r' '\n' <log | sed "s/$(printf '\033')\[K//g" >lines
	run ! grep '..' lines
	cmp out <(sort n n n)
}

@test "a dumb terminal gets no escape sequence, and nothing unasked" {
	export TERM=dumb
	on_terminal "./slow | $xsort -o out"
	[ ! -s log ]
	on_terminal "./slow | $xsort --progress=always -o out"
	grep -q "forming runs" log
	run ! grep "$(printf '\033')" log
	[ "$(tail -c 3 log)" = "   " ]
}

@test "NO_COLOR: no tool writes colours, only what wipes a line" {
	export TERM=xterm-256color NO_COLOR=1
	on_terminal "./slow | $xsort -o out; $xsort --help; $xsort --no-such-option" || [ $? -eq 2 ]
	sed "s/$(printf '\033')\[K//g" log >rest
	run ! grep "$(printf '\033')" rest
	grep -q "unrecognized option" rest
}

@test "signals and errors leave no partial line" {
	local until_drawn="bash ./until_drawn"

	printf '#!/bin/sh\nwhile cat n; do sleep 0.1; done\n' >endless
	chmod +x endless
	# SIGNAL COMMAND: as soon as something is on the terminal.
	cat >until_drawn <<-'T'
		signal=$1
		shift
		set -m # else SIGINT is ignored
		"$@" &
		until grep -qs '\[K' script.log; do sleep 0.1; done
		set +m
		kill -s "$signal" $!
		wait $! 2>/dev/null
		[ $? -eq $((128 + $(kill -l "$signal"))) ]
	T
	for signal in INT TERM HUP PIPE; do
		on_terminal "$until_drawn $signal $xsort -S 1M -o out <(./endless)"
		drawn_then </dev/null
		on_terminal "$until_drawn $signal $xjoin -S 512K --output=out <(./endless) n"
		drawn_then </dev/null
	done
	: >full
	on_terminal "(ulimit -f 100; ./slow | $xsort -o full)" || true
	[ "$(sed "1s/^.*\\r$(printf '\033')\[K//" log | head -n 1)" = "xsort: write failed: full: File too large" ]
}
