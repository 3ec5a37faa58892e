#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# --resume: a sort continues where it was killed.  tests/fault/resume.t kills it at each call.
# SP_TEST_FULL=1: also -u without --count from a mark, whole sorts with each number of threads, and more kills.
. "$BATS_TEST_DIRNAME/suite.bash"

setup()
{
	export LOCPATH=$BATS_TEST_DIRNAME/../../build/locale
	begin_test
	seq 250000 | awk '{ print ($1 * 7919) % 20011, $1 }' >in
}

resume() { "$xsort" -S 600K --resume=d -o out "$@"; }

# checkpoints N ARGUMENT...: kills a sort when its journal has more than N bytes.
checkpoints()
{
	local least=$1 pid

	shift
	"$xsort" -S 600K --resume=d -o out "$@" &
	pid=$!
	until [ "$(stat -c %s d/spindle.journal 2>/dev/null || echo 0)" -gt "$least" ]; do
		kill -0 $pid 2>/dev/null || break
		sleep 0.005
	done
	kill -9 $pid 2>/dev/null || return 0
	wait $pid || true
}

@test "without a crash: the result, and nothing is left" {
	head -n 80000 in >few && mv few in
	for args in '' '-n --parallel=1' '-u -n' '-u --count -k1,1' '--limit=7' '--header=3' '-k2 --fan-in=3' \
		'--spill-compression=zstd -r' '-S 100M'; do
		# shellcheck disable=SC2086 # words
		"$xsort" $args in >want
		# shellcheck disable=SC2086
		resume $args in
		cmp out want
		[ ! -e d ]
	done
}

# bats test_tags=slow
@test "killed at random, with other memory and threads: the same result" {
	local kills=0 tries threads all=(1 2 8)
	for args in '-s -k1,1n' '-u -n' '-u --count -k2' '--fan-in=3' '--header --csv' '-r --parallel=3'; do
		# shellcheck disable=SC2086 # words
		"$xsort" $args in >want
		for ((tries = 0; tries < (${#SP_TEST_FULL} ? 20 : 5); tries++)); do
			# shellcheck disable=SC2086
			timeout --foreground -s KILL 0.0$((RANDOM % 90 + 10)) "$xsort" --resume=d -o out $args \
				-S $((600 + RANDOM % 1000))K --parallel=$((RANDOM % 3 + 1)) in || kills=$((kills + 1))
			[ -e d ] || break
		done
		[ -n "${SP_TEST_FULL:-}" ] || all=("${all[@]:1}" "${all[0]}")
		# Only the first one continues.
		for threads in "${all[@]:0:${SP_TEST_FULL:+2}+1}"; do
			# shellcheck disable=SC2086
			resume $args --parallel=$threads in
			cmp out want
			[ ! -e d ]
		done
	done
	[ $kills -gt 0 ]
}

# bats test_tags=slow
@test "killed while many runs are merged in one range: continues from a mark" {
	needs jq
	local args pid
	seq 3000000 | awk '{ print ($1 * 7919) % 1000003, $1 }' >many
	for args in '-s -k1,1n' ${SP_TEST_FULL:+'-u -k2,2'} '-u --count -k2,2'; do
		local sort=("$xsort" -S 16M --run-size=1M --parallel=2 --resume=d -o out)
		# shellcheck disable=SC2086 # words
		"$xsort" $args -S 1G many >want
		# shellcheck disable=SC2086
		"${sort[@]}" $args many &
		pid=$!
		until [ "$(stat -c %s d/spindle.result 2>/dev/null || echo 0)" -gt 25000000 ]; do
			kill -0 $pid || break
			sleep 0.02
		done
		kill -9 $pid && wait $pid || true
		[ -e d ]
		# shellcheck disable=SC2086
		"${sort[@]}" $args --stats=stats many
		cmp out want
		[ ! -e d ]
		jq -e '.result | .merge_parts == 0' stats
		jq -e '.result.resumed_bytes == .result.input_bytes' stats
		jq -e '.io.write_bytes < .result.output_bytes' stats
	done
}

@test "in a locale with its own order" {
	[ -d "$LOCPATH/en_US.UTF-8" ] || skip "needs the locale en_US.UTF-8 in build/locale"
	export LC_ALL=en_US.UTF-8
	awk '{ printf "%s%c-%s\n", substr("Äbc déf_ghi", $1 % 9 + 1), 65 + $1 % 50, $2 }' in >text
	"$xsort" text >want
	checkpoints 3000 text
	[ -e d ]
	resume --parallel=2 text
	cmp out want
	checkpoints 3000 text
	LC_ALL=C run -2 resume text
	[[ $output == *'d: was started with other keys or options, or in another locale: remove this directory to start again' ]]
}

@test "several inputs, one without a newline at its end, and the output is one of them" {
	head -n 100000 in | tr -d '\n' | head -c 3000 >one
	cp in two
	"$xsort" in one two >want
	cp two out
	checkpoints 3000 in one out
	resume in one out
	cmp out want
	[ ! -e d ]
}

@test "another sort is refused, and the checkpoints stay" {
	"$xsort" -n in >want
	checkpoints 3000 -n in
	[ -e d ]
	cp d/spindle.journal before
	for args in '-r -n in' '-n -s in' '-n -u in' '-n in in' '--header -n in' '-z -n in' \
		'-n --spill-compression=lz4 in' '-n before'; do
		# shellcheck disable=SC2086 # words
		run -2 resume $args
		[ "$(wc -l <<<"$output")" = 1 ]
		[[ $output == 'xsort: d: '*': remove this directory to start again' ||
			$output == *'since the checkpoints in d: remove d to start again' ]]
		cmp d/spindle.journal before
	done
	cp -p in keep
	tr 123 321 <keep >in
	touch -r keep in
	run -2 resume -n in
	[ "$output" = 'xsort: in: has changed since the checkpoints in d: remove d to start again' ]
	cp -p keep in
	cp d/spindle.journal before
	touch -d '1 hour ago' in
	run -2 resume -n in
	[ "$output" = 'xsort: in: has changed since the checkpoints in d: remove d to start again' ]
	cmp d/spindle.journal before
	[ ! -e out ]
}

@test "an input whose equal records changed places is refused, though size and time are the same" {
	checkpoints 3000 -s -k1,1n in
	[ -e d ]
	cp -p in keep
	awk 'NR == 1 { print "7919 20012" } NR == 20012 { print "7919 1" } NR != 1 && NR != 20012' keep >in
	touch -r keep in
	[ "$(sort in | cksum)" = "$(sort keep | cksum)" ]
	run -1 cmp -s in keep
	run -2 resume -s -k1,1n in
	[ "$output" = 'xsort: in: has changed since the checkpoints in d: remove d to start again' ]
	[ ! -e out ]
}

@test "options that exclude it, and what cannot be resumed" {
	for args in -m -c -C --volume=sim:default --compress-program=gzip --run-formation=replacement \
		--merge-policy=eager --merge-policy=ppms; do
		run -2 "$xsort" $args --resume=d in
		[[ $output == "xsort: options '$args' and '--resume' are incompatible" || $output == *"'${args%%=*}' and '--resume'"* ]]
	done
	run -2 "$xsort" --resume=d in
	[ "$output" = 'xsort: --resume needs -o: the file that a later run continues' ]
	run -2 resume -R in
	[ "$output" = 'xsort: --resume with -R needs --random-source' ]
	run -2 resume - <in
	[ "$output" = 'xsort: -: only a sort of named regular files can be resumed' ]
	run -2 "$xsort" --resume=/dev/shm/d.$$ -o out in
	if [ "$(stat -c %d /dev/shm)" != "$(stat -c %d .)" ]; then
		[ "$output" = "xsort: /dev/shm/d.$$: is not on the file system of out" ]
	fi
	ln in other
	touch out && ln out out2
	run -2 resume in
	[[ $output == *'out: can only be written in place, after the work: name another output' ]]
	mkdir full && touch full/file
	run -2 "$xsort" --resume=full -o out3 in
	[ "$output" = 'xsort: full: is not empty and has no checkpoints' ]
	[ "$(ls full)" = file ]
	[ ! -e d ]
}

refused() # TEXT: the sort is refused so, and the file victim is as it was
{
	run -2 resume in
	[[ $output == "xsort: $1" ]] || { echo "$output"; return 1; }
	[ "$(cat victim)" = precious ]
	[ ! -e out ]
}

@test "the directory is the user's own, and not to be written by others" {
	local uid
	echo precious >victim
	(umask 0 && checkpoints 3000 in)
	[ "$(stat -c %a d)" = 700 ]
	[ "$(stat -c %a d/spindle.journal)" = 600 ]
	chmod 757 d
	refused 'd: can be written by every user: give a directory of your own, with mode 0700'
	chmod 755 d
	if [ "$(id -u)" = 0 ]; then
		chgrp 4321 d
		chmod 770 d
		refused 'd: can be written by a group: give a directory of your own, with mode 0700'
		chmod 700 d
		chown 4321 d
		refused 'd: belongs to another user: give a directory of your own, with mode 0700'
		chown 0:0 d
		chmod 770 d # the group of root is private
	else
		uid=$(stat -c %u /)
		[ "$uid" = "$(id -u)" ] || run -2 "$xsort" --resume=/ -o out in
	fi
	resume in
	"$xsort" in | cmp - out
	ln -s nowhere e
	run -2 timeout 20 "$xsort" --resume=e -o out2 in
	[[ $output == *' e: No such file or directory' ]]
}

@test "no file in the directory is a link, or anything but a file" {
	local file
	for file in spindle.journal spindle.runs spindle.result; do
		for make in 'ln -s ../victim' 'ln victim' mkfifo; do
			rm -rf d
			mkdir -m 700 d
			echo precious >victim
			[ $file = spindle.journal ] || checkpoints 3000 in
			rm -f d/$file out
			case $make in
			'ln -s'*) ln -s ../victim d/$file ;;
			ln*) ln victim d/$file ;;
			*) mkfifo d/$file ;;
			esac
			refused "d/$file: is a link, or not a regular file of your own: remove it"
		done
	done
}

@test "one process at a time" {
	mkfifo gate
	checkpoints 3000 in
	[ -e d ]
	flock d/spindle.journal cat gate &
	until ! flock -n d/spindle.journal true; do sleep 0.01; done
	run -2 resume in
	[ "$output" = 'xsort: d: is in use by another process' ]
	echo >gate
	wait
	resume in
	"$xsort" in | cmp - out
}

@test "Ctrl-C leaves the directory, and says so" {
	"$xsort" -S 600K --resume=d -o out in 2>err &
	until [ "$(stat -c %s d/spindle.journal 2>/dev/null || echo 0)" -gt 1000 ]; do
		kill -0 $! 2>/dev/null || skip 'it was too fast'
	done
	kill -TERM $! || skip 'it was too fast'
	wait $! && skip 'it was too fast'
	[ "$(cat err)" = "xsort: 'd' keeps the progress; the same command continues from there" ]
	[ -e d ]
	resume in
	"$xsort" in | cmp - out
}

@test "damaged checkpoints are made again" {
	local file i at step=3
	[ -z "${SP_TEST_VARIANT:-}" ] || step=6
	[ -z "${SP_TEST_FULL:-}" ] || step=1
	"$xsort" -k2 in >want
	for ((i = 0; i < 12; i += step)); do
		checkpoints $((2000 + i * 900)) -k2 in
		[ -e d ] || continue
		for file in d/spindle.runs d/spindle.result d/spindle.journal; do
			[ -s "$file" ] || continue
			[ $file != d/spindle.journal ] || [ $((i % 3)) = 0 ] || continue
			at=$((RANDOM * 7 % $(stat -c %s "$file")))
			[ $file != d/spindle.journal ] || [ $at -gt 200 ] || at=200
			printf '\377\376\375' | dd of="$file" bs=1 seek=$at conv=notrunc status=none
		done
		resume -k2 in
		cmp out want
		[ ! -e d ]
	done
}

@test "the report has the resumed bytes" {
	checkpoints 4000 in
	[ -e d ]
	resume --stats=stats in
	[ "$(sed -n 's/.*"resumed_bytes": *\([0-9]*\).*/\1/p' stats)" -gt 0 ]
	[ "$(sed -n 's/^ *"input_bytes": *\([0-9]*\).*/\1/p' stats | tail -n 1)" = "$(stat -c %s in)" ]
}
