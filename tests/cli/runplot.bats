#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# no threads
#
# Pictures of the requests of a run: xsort, xjoin and mmap-cube with --plot.
. "$BATS_TEST_DIRNAME/suite.bash"

setup()
{
	begin_test tmp
	"$xgen" lines -n 60000 --seed=3 -o big
	LC_ALL=C sort big >sorted
}

# A gnuplot that works when --plot tries it, and fails when it draws.
failing_gnuplot()
{
	mkdir fake
	printf '#!/bin/sh\ncat >/dev/null\n[ ! -e "%s/tried" ] || exit 3\n>"%s/tried"\n' "$PWD" "$PWD" >fake/gnuplot
	chmod +x fake/gnuplot
}

# has PICTURE TEXT...: an SVG has the texts.
has()
{
	local text

	for text in "${@:2}"; do
		grep -qF "$text" "$1" || { echo "$1 has no $text"; return 1; }
	done
}

@test "a sort, a join and queries of a cube are drawn, and leave no temporary file" {
	needs gnuplot
	run -0 --separate-stderr "$xsort" -S 1M --parallel=1 --plot=s.svg -o out big
	[ -z "$output$stderr" ]
	cmp out sorted
	has s.svg '>xsort big: ' '>big: ' "$PWD/tmp: " '>read<' '>write<' '>maximum<'
	seq 20000 | sort -R >a
	seq 2 2 30000 | sort -R >b
	"$xjoin" -S 1M --plot=j.svg --output=joined a b
	[ "$(wc -l <joined)" = 10000 ]
	has j.svg '>xjoin a b: ' '>a: ' '>b: ' '>joined: 0 reads, '
	head -c 8192 /dev/zero >raw
	"$cube" create c --dims 16x16x8 --dtype u32
	"$cube" load c raw --plot=l.svg
	has l.svg '>mmap-cube load c: ' '0 reads, '
	[ "$("$cube" range c --plot=r.svg --format=raw | cmp - raw && echo same)" = same ]
	has r.svg '>mmap-cube range c: ' '0 writes'
	[ -z "$(ls -A tmp)" ]
}

@test "a picture of a simulated drive has its virtual time" {
	needs gnuplot
	"$xsort" -S 1M --volume=sim:atlas10k3-like --trace=t --plot=s.svg big >out
	cmp out sorted
	end=$(awk '!/^#/ && $7 > end { end = $7 } END { printf "%.0f", end / 1e6 }' t)
	"$blockseq" --plot=t.svg t >/dev/null
	sed 's/xsort big: /t: /' s.svg | cmp - t.svg
	has s.svg 'time, '
	# the same run in the same time
	"$xsort" -S 1M --volume=sim:atlas10k3-like --plot=u.svg big >out
	cmp s.svg u.svg
	[ "$end" -gt 10 ]
}

@test "--plot with --trace draws the trace, which must be a regular file" {
	needs gnuplot
	"$xsort" -S 1M --trace=t --plot=s.svg big | cmp - sorted
	head -n 1 t | grep -q '^# spindle-trace/1$'
	has s.svg "$(grep -vc '^#' t) requests"
	mkfifo fifo
	run -2 "$xsort" --trace=fifo --plot=s.svg -o out big
	[ "$output" = "xsort: fifo: --plot with --trace needs a regular file" ]
	[ ! -e out ]
}

@test "without gnuplot nothing is sorted; a picture that fails changes neither result nor status" {
	mkdir empty
	run -2 env PATH="$PWD/empty" "$xsort" --plot=p.png -o out big
	[ "$output" = "xsort: --plot needs gnuplot, in Debian the package gnuplot-nox: No such file or directory" ]
	[ ! -e out ]
	failing_gnuplot
	echo old >p.png
	PATH=$PWD/fake:$PATH run -0 "$xsort" --plot=p.png -o out big
	[ "$output" = "xsort: p.png: gnuplot failed" ]
	cmp out sorted
	[ "$(cat p.png)" = old ]
	rm tried
	PATH=$PWD/fake:$PATH run -0 "$xjoin" --plot=p.png <(seq 1 3) <(seq 2 4)
	[ "$output" = $'2\n3\nxjoin: p.png: gnuplot failed' ]
}

# A gnuplot that works when --plot tries it, and hangs when it draws.
hanging_gnuplot()
{
	mkdir -p fake
	printf '#!/bin/sh\n[ -e "%s/tried" ] || { cat >/dev/null; >"%s/tried"; exit 0; }\n>"%s/drawing"\nsleep 50 & echo $! >"%s/sleep"; wait\n' \
		"$PWD" "$PWD" "$PWD" "$PWD" >fake/gnuplot
	chmod +x fake/gnuplot
}

# gone FILE: the process of this number ends within a second.
gone()
{
	local pid

	pid=$(cat "$1")
	for _ in {1..20}; do
		# a zombie has no command line
		[ -s "/proc/$pid/cmdline" ] && tr '\0' ' ' <"/proc/$pid/cmdline" | grep -q sleep || return 0
		sleep 0.05
	done
	return 1
}

@test "a signal ends a gnuplot that hangs, and leaves no picture" {
	hanging_gnuplot
	for command in "$xsort -o out" "$blockseq"; do
		for signal in TERM QUIT; do
			rm -f tried sleep
			echo old >p.svg
			"$xsort" -S 1M --trace=t -o out big
			file=t
			[ "$command" = "$blockseq" ] || file=big
			(ulimit -c 0; PATH=$PWD/fake:$PATH exec $command --plot=p.svg "$file" >/dev/null 2>&1) &
			pid=$!
			until [ -s sleep ]; do kill -0 $pid; done
			begun=$SECONDS
			kill -$signal $pid
			status=0
			wait $pid || status=$?
			[ "$status" -ne 0 ]
			gone sleep
			[ $((SECONDS - begun)) -le 2 ]
			[ "$(cat p.svg)" = old ]
		done
	done
	# while --plot tries it
	: >tried
	rm sleep
	(PATH=$PWD/fake:$PATH exec "$aiobench" run --runtime=20ms --plot=q.svg sim:tiny >/dev/null 2>&1) &
	pid=$!
	until [ -s sleep ]; do kill -0 $pid; done
	kill -TERM $pid
	status=0
	wait $pid || status=$?
	[ "$status" -ne 0 ]
	gone sleep
	[ ! -e q.svg ]
	# the measurement has ended in an orderly way on the first signal
	rm tried sleep
	(PATH=$PWD/fake:$PATH exec "$aiobench" run --runtime=20ms --plot=q.svg sim:tiny >/dev/null 2>err) &
	pid=$!
	until [ -s sleep ]; do kill -0 $pid; done
	kill -TERM $pid
	status=0
	wait $pid || status=$?
	[ "$status" = 2 ]
	[ "$(tail -n 1 err)" = "aiobench: q.svg: gnuplot failed" ]
	gone sleep
	[ ! -e q.svg ]
}

@test "GNUTERM of the environment does not matter" {
	needs gnuplot
	for name in s.svg s.png; do
		GNUTERM=x11 run -0 "$xsort" -S 1M --plot=$name -o out big
		[ -z "$output" ]
		[ -s $name ]
	done
	GNUTERM=none run -0 "$xsort" -S 1M --plot=s.svg -o out big
	[ -z "$output" ]
}

@test "no picture without requests; a picture if standard output is closed" {
	needs gnuplot
	run -0 "$xsort" --plot=p.png /dev/null
	[ "$output" = "xsort: p.png: no requests to draw" ]
	[ ! -e p.png ]
	run -0 bash -c '"$0" --plot=p.svg -o out big >&-' "$xsort"
	[ -z "$output" ]
	cmp out sorted
	has p.svg '>xsort big: ' '</svg>'
}

@test "options that make no trace exclude pictures, and a picture overwrites no input" {
	needs gnuplot
	for option in --explain --check "--unique --keep-order" "--splitters=2"; do
		# shellcheck disable=SC2086 # several options
		run -2 "$xsort" $option --plot=p.png -o out big
		[[ $output == *"--plot"*incompatible* || $output == *incompatible*"--plot"* ]]
	done
	cp big big.png
	run -2 "$xsort" --plot=big.png big.png
	[ "$output" = "xsort: big.png: --plot would overwrite it" ]
	run -1 "$xjoin" --plot=big.png big.png big
	[ "$output" = "xjoin: big.png: --plot would overwrite it" ]
	cmp big big.png
	run -2 env TMPDIR=/nonexistent "$xsort" --plot=p.png big
	[ "$output" = "xsort: cannot create temporary file in '/nonexistent': No such file or directory" ]
}

@test "a picture that cannot be written is refused before the work" {
	needs gnuplot
	fails_with "xsort: open failed: nowhere/s.svg: No such file or directory" "$xsort" --plot=nowhere/s.svg -o out big
	run -1 "$xjoin" --plot=nowhere/s.svg big big
	[[ $output == *"nowhere/s.svg: No such file or directory" ]]
	run -2 "$aiobench" run --create --size=1M --plot=nowhere/s.svg file
	[ "$output" = "aiobench: open failed: nowhere/s.svg: No such file or directory" ]
	[ ! -e out ]
	[ ! -e file ]
	[ -z "$(ls -A tmp)" ]
}
