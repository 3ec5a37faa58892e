#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# file_tags=slow
#
# Each allocation, each call for a file and each request of a command that changes a table fails, and
# each call kills it, one at a time: status 0 and the right records, or 2 with one message; then the
# table is as it was, or as it was to be, and its index finds the records of the table, or is refused.
# SP_TABLE_KILLS=N (4): for each command and kind of table N of its calls, spread evenly, kill it; a
# given N also makes more calls fail.

# shellcheck disable=SC2317 # functions by the name of a command
in_memory=yes
# shellcheck source=tests/fault/sweep.bash
. "$(dirname "$0")/sweep.bash" || exit 2
# shellcheck source=tests/fault/begin.bash
. "$(dirname "$0")/begin.bash"
needs_shim

awk 'BEGIN { for (i = 0; i < 3000; i++) printf "%d,%s,%.2f,%s%d\n", i, i % 3 ? "red" : "blue", i * 7 % 100 / 4, substr("abcdefghijklmnop", 1, i % 16), i }' >in.csv
awk 'BEGIN { for (i = 0; i < 400; i++) printf "%d,green,%.2f,more%d\n", i, i, i }' >more.csv
seq 5 97 2900 >keys

# Calls of a command that kill it, and allocations and calls of the others that fail.
kills=4 allocations=4 calls=5 distance=3 others=('open read pread write pwrite close fsync ftruncate')
[ -z "${SP_TABLE_KILLS:-}" ] || {
	kills=$SP_TABLE_KILLS allocations=24 calls=5 distance=99
	others=(open read pread write pwrite close fsync ftruncate)
}

options=(--engine=sync -S 4M)
do_update() { "${wrap[@]}" "$xtable" update t --set "c1=-5,c2=black,c3=7.25" --keys=keys "${options[@]}"; }
do_retext() { "${wrap[@]}" "$xtable" update t --set "c4='a text of another length'" 8 9 2500 "${options[@]}"; }
do_delete() { "${wrap[@]}" "$xtable" delete t --keys=keys "${options[@]}"; }
do_append() { "${wrap[@]}" "$xtable" append t more.csv "${options[@]}"; }
do_alter() { "${wrap[@]}" "$xtable" alter t --drop c3 --types c2:dict16 --add "n:text,m:i16" --set "n='a new text'" "${options[@]}"; }
to=(--layout=pax) # of the table that convert makes
do_convert() { rm -f u uvol && "${wrap[@]}" "$xtable" convert t u "${to[@]}" "${options[@]}"; }

how=() # of the table that is loaded
do_load() { "${wrap[@]}" "$xtable" load t --csv more.csv --overwrite "${how[@]}" "${options[@]}"; }
do_index() { "${wrap[@]}" "$xtable" index t c1 "${options[@]}"; }

# The table t, with its index, and its volume if it has one, as it was loaded.
restore() { cp full t && cp full.index t.c1.index && { [ ! -e vol.full ] || cp vol.full vol; }; }

# records_of TABLE: all of them, or what is wrong.
records_of()
{
	"$xtable" check "$1" >checked 2>&1 || { cat checked; return; }
	"$xtable" scan "$1" 2>&1
}

# Says what is wrong with the index: it finds what a scan finds, or is refused.
indexed()
{
	"$xtable" get t --by=c1 --index=t.c1.index -- -5 102 >found 2>refused
	case $? in
	0 | 1) "$xtable" scan t --access=s-scan --where 'c1 in (-5, 102)' | cmp -s - found || echo 'the index finds other records ' ;;
	2) grep -Eq '^xtable: .*index' refused || echo "the index: $(<refused) " ;;
	*) echo 'the index ends the command ' ;;
	esac
}

# whole COMMAND: says what is wrong with a table that must be as before or as after.
whole()
{
	local file=t

	if [ "$1" = convert ]; then
		file=u
		records_of t | cmp -s - before || echo 'the table has changed'
		[ -e u ] || return
	fi
	records_of $file >out
	[ "$1" = convert ] || indexed
	[ "$1" = convert ] || cmp -s out before && return
	cmp -s out "after.$1" || echo "neither the old records nor the new ones: $(head -c 200 out)"
}

# once COMMAND: says what is wrong.
once()
{
	local bad='' file=t

	restore
	"do_$1" >said 2>err
	status=$?
	[ "$1" != convert ] || file=u
	case $status in
	0) records_of $file | cmp -s - "after.$1" || bad='status 0 and wrong records' ;;
	2)
		messages xtable
		[ "$messages" = 1 ] || bad="$lines messages "
		bad+=$(whole "$1")
		[ "$1" != convert ] || [ -e u ] || [ ! -e uvol ] || bad+=' a volume is left'
		;;
	137)
		bad=$(whole "$1")
		rm -f u.*
		;;
	*) bad="status $status" ;;
	esac
	[ -z "$(ls -d u.* 2>/dev/null)" ] || bad+=' a file is left'
	[ -z "$bad" ] || printf '%s: %s\n' "$bad" "$(head -c 300 err)"
}

# requests COMMAND KIND: requests of the engine that fail, later ones with larger distances.
requests()
{
	local command=$1 kind=$2 i=1 n=0 bad=''

	while [ $i -lt 30 ]; do
		options=("--engine=fault:SCOPE=PROCESS,KIND=$kind,NTH=$i,ERROR=EIO:sync" -S 4M)
		once "$command" >wrong
		[ ! -s wrong ] || bad+="request $i: $(cat wrong)"$'\n'
		[ $status = 2 ] || break
		i=$((i + 1 + i / distance)) n=$((n + 1))
	done
	options=(--engine=sync -S 4M)
	tap_empty "$command: each of $n ${kind,,} requests that fails is reported" "$bad"
}

# all NAME OPTION...: sweeps the commands on a table that is loaded with these options.
all()
{
	local name=$1 command call

	shift
	rm -f full vol vol.full
	how=("$@" --cell=1K --types 'c1:i32,c2:dict8,c3:dec(2),c4:text')
	"$xtable" load full --csv in.csv "${how[@]}" && "$xtable" index full c1 -o full.index &&
		{ [ ! -e vol ] || cp vol vol.full; } && restore && records_of t >before && cmp -s before in.csv || exit 2
	wrap=()
	for command in update retext delete append alter convert index load; do
		[[ $command != alter || "$*" != *placement* ]] || continue # refused
		[ $command != load ] || [ ! -e vol ] || continue # the old table refuses new volumes
		restore
		"do_$command" || exit 2
		if [ $command = convert ]; then records_of u; else records_of t; fi >"after.$command"
		export FAILCALL_KILL=1
		sweep $command 'pwrite write fsync ftruncate fallocate rename link' $kills "killed, $name"
		unset FAILCALL_KILL
		case $command in load | index) continue ;; esac # xtable_signal.t, test_table_load.c
		sweep $command alloc $allocations "$name"
		for call in "${others[@]}"; do
			sweep $command "$call" $calls "$name"
		done
		requests $command READ
	done
	sweep convert 'link rename' 5 "$name"
	requests append WRITE
	requests convert WRITE
}

# Readers beside a writer see the table before or after each update, or that it is being changed.
beside()
{
	local writer i refused=0 read=0 bad=''

	cp full t
	"$xtable" update t --set c1=0 --keys=<(seq 0 2999)
	(for i in 1 2 3 4 5 6 7 8; do
		until "$xtable" update t --set c1=$i --keys=<(seq 0 2999) 2>said; do
			grep -q 'another program is using it$' said || exit 1
		done
	done) &
	writer=$!
	while kill -0 $writer 2>/dev/null; do
		if "$xtable" scan t >out 2>err; then
			read=$((read + 1))
			[ "$(cut -d, -f1 out | sort -u | wc -l)" = 1 ] || bad+='values of two updates'
		elif grep -Eq 'another program is changing it|has changed since it was opened' err; then
			refused=$((refused + 1))
		else
			bad+=$(<err)
		fi
	done
	wait $writer || bad+="the writer: $(<said)"
	"$xtable" scan t | cut -d, -f1 | sort -u | grep -qx 8 || bad+='an update is missing'
	tap_empty "readers beside a writer: $read scans, $refused refused" "$bad"
}

# A change that is complete, but not in place: a file that cannot be written is refused.
unfinished()
{
	cp full t
	FAILCALL_AT=3 FAILCALL_CALLS=fsync FAILCALL_KILL=1 LD_PRELOAD="$shim" \
		"$xtable" update t --set c1=-5,c2=black,c3=7.25 --keys=keys --engine=sync 2>/dev/null
	chmod a-w t
	if [ "$(id -u)" = 0 ]; then
		"$xtable" scan t | cmp - after.update
	else
		"$xtable" scan t 2>err && return 1
		grep -q 'a change was interrupted and must be finished first: .*Permission denied' err &&
			chmod u+w t && "$xtable" scan t | cmp - after.update
	fi
}

all csm --layout=csm
beside
tap 'an interrupted change is finished by a reader, or refused' unfinished
all nsm --layout=nsm
"$diskprobe" sim:tiny -o tracks.json >/dev/null 2>&1 || exit 2
all semiseq --placement=semiseq --volumes=2 --geometry=tracks.json
to=(--placement=semiseq --volumes=uvol --geometry=tracks.json --cell=1K)
all volumes --placement=semiseq --volumes=vol --geometry=tracks.json
all_swept
tap_done
