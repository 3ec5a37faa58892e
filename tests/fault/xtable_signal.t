#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# SIGINT or SIGTERM arrives at each call for a file of a command: it dies by the signal without a
# message and leaves no file.  A new file does not appear or is complete, a table that was to be
# changed has the old records or the new ones, and the next append reuses the space.

# shellcheck disable=SC2317 # functions by the name of a command
in_memory=yes
# shellcheck source=tests/fault/begin.bash
. "$(dirname "$0")/begin.bash"
needs_shim

awk 'BEGIN { for (i = 0; i < 3000; i++) printf "%d,%s,%.2f,%s%d\n", i, i % 3 ? "red" : "blue", i * 7 % 100 / 4, substr("abcdefghijklmnop", 1, i % 16), i }' >in.csv
awk 'BEGIN { for (i = 0; i < 400; i++) printf "%d,green,%.2f,more%d\n", i, i, i }' >more.csv
types=c1:i32,c2:dict8,c3:'dec(2)',c4:text
options=(--engine=sync -S 4M)

do_load() { "${wrap[@]}" "$xtable" load new --csv in.csv --cell=1K --types "$types" "${options[@]}" "$@"; }
do_reload() { do_load --overwrite; }
do_spread() { do_load --placement=semiseq --geometry=tracks.json --volumes=vol; } # over two files
do_convert() { "${wrap[@]}" "$xtable" convert t new --layout=pax --overwrite "${options[@]}"; }
do_index() { "${wrap[@]}" "$xtable" index t c1 -o new "${options[@]}"; }
do_spill() { "${wrap[@]}" "$xtable" index many c1 -o new "${options[@]}" -T tmp; }
do_append() { "${wrap[@]}" "$xtable" append t more.csv "${options[@]}"; }
do_update() { "${wrap[@]}" "$xtable" update t --set "c1=-5,c4='another text'" --where 'c1 > 100' "${options[@]}"; }

# result COMMAND: the content of what the command writes.
result()
{
	case $1 in
	load | reload | spread | convert)
		"$xtable" check new >/dev/null && "$xtable" scan new
		;;
	index) "$xtable" get t --by=c1 --index=new 5 100 2999 ;;
	spill) "$xtable" get many --by=c1 --index=new 5 100 299999 ;;
	append | update) "$xtable" check t >/dev/null && "$xtable" scan t ;;
	esac
}

# whole COMMAND: says what is wrong after the signal.
whole()
{
	result "$1" >out 2>&1
	case $1 in
	append | update) cmp -s out in.csv && return ;;
	*) cmp -s new old && return ;;
	esac
	cmp -s out "after.$1" || echo "neither the old content nor the new one: $(head -c 200 out)"
}

# once COMMAND SIGNAL: says what is wrong.
once()
{
	local bad=''

	cp full t
	: >new
	case $1 in
	load | spread) rm new ;;
	reload) cp old new ;;
	esac
	"do_$1" >said 2>/dev/null
	status=$?
	[ -e new ] || echo absent >new
	# The file gets its name in a process of its own, which can be the one that has the signal.
	case $status in
	$((128 + $2))) ;;
	0) result "$1" 2>&1 | cmp -s - "after.$1" || bad='status 0 and a wrong result ' ;;
	*) bad="status $status " ;;
	esac
	died=$((died + (status > 128)))
	[ ! -s err ] || bad+="it said $(head -c 300 err) "
	bad+=$(whole "$1")
	cmp -s new old || rm -f vol # of a complete table
	ls -A . tmp >there
	cmp -s there files || bad+=" files: $(diff there files)"
	rm -rf tmp/*
	[ -z "$bad" ] || printf '%s\n' "$bad"
}

# signalled COMMAND STEPS: a signal arrives at about STEPS of the calls.
signalled()
{
	local command=$1 calls=open,tmpfile,read,pread,pwrite,write,close,fsync,ftruncate,link,rename
	local bad='' i n runs=0 died=0 signal status

	cp full t
	: >count
	: >new
	case $command in load | spread) rm new ;; esac
	wrap=(env FAILCALL_CALLS="$calls" FAILCALL_FD_MIN=3 FAILCALL_COUNT="$work/count" LD_PRELOAD="$shim")
	"do_$command" || bad='without a signal it fails'
	wrap=()
	result "$command" >"after.$command"
	n=$(tail -n 1 count)
	cp full t
	cp t old
	case $command in
	load) echo absent >old ;;
	spread)
		echo absent >old
		rm vol
		;;
	convert | index | spill) : >old ;;
	esac
	for i in $(awk -v n="$n" -v most="$2" 'BEGIN {
			for (i = 1; i <= n; i += n < most ? 1 : n / most) print int(i) }'); do
		signal=$((i % 2 ? 15 : 2))
		# The shell itself would say that the command was terminated.
		wrap=(sh -c 'exec "$@" 2>err' sh env --default-signal=INT FAILCALL_CALLS="$calls" FAILCALL_FD_MIN=3 FAILCALL_AT="$i"
			FAILCALL_SIGNAL="$signal" LD_PRELOAD="$shim")
		once "$command" $signal >wrong
		wrap=()
		runs=$((runs + 1))
		[ ! -s wrong ] || bad+="call $i of $n: $(cat wrong)"$'\n'
	done
	[ $((runs - died)) -le 4 ] || bad+="only $died ended by the signal"
	tap_empty "$command: a signal at $runs of $n calls" "$bad"
}

# An append continues where an interrupted one did not, so interrupted ones take no space.
again()
{
	local i wrap=()

	cp full t
	do_append || return
	stat -c %s t >length
	cp full t
	for i in 4 8 12; do
		wrap=(env FAILCALL_CALLS=pwrite FAILCALL_AT="$i" FAILCALL_SIGNAL=15 LD_PRELOAD="$shim")
		do_append && return 1
		wrap=()
		"$xtable" scan t | cmp - in.csv || return
		[ "$(stat -c %s t)" -gt "$(stat -c %s full)" ] || { echo 'the append had written nothing'; return 1; }
	done
	do_append && "$xtable" check t && "$xtable" scan t | cmp - after.append && [ "$(stat -c %s t)" = "$(cat length)" ]
}

wrap=()
"$xtable" load full --csv in.csv --cell=1K --types "$types" && cp full t && "$xtable" scan t | cmp - in.csv || exit 2
seq 300000 | "$xtable" load many --types c1:i64 || exit 2
"$diskprobe" sim:tiny -o tracks.json >/dev/null 2>&1 || exit 2
for file in new old said err out there count wrong length; do : >$file; done
for command in load reload spread convert index spill append update; do : >after.$command; done
ls -A . tmp >files
for command in load reload convert index append update; do signalled $command 20; done
signalled spread 100 # all of them, also those that give names
signalled spill 8
tap 'after interrupted appends the next one leaves no unused space' again
tap_done
