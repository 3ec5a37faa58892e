#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The device becomes full at each call of a command that needs space: status 2 and one message with the
# file and the reason.  A new file does not appear, an old one stays byte for byte; a table that was to
# be changed has its old records and its old length.

# shellcheck disable=SC2317 # functions by the name of a command
in_memory=yes
# shellcheck source=tests/fault/begin.bash
. "$(dirname "$0")/begin.bash"
needs_shim

awk 'BEGIN { for (i = 0; i < 3000; i++) printf "%d,%s,%.2f,%s%d\n", i, i % 3 ? "red" : "blue", i * 7 % 100 / 4, substr("abcdefghijklmnop", 1, i % 16), i }' >in.csv
awk 'BEGIN { for (i = 0; i < 400; i++) printf "%d,green,%.2f,more%d\n", i, i, i }' >more.csv
types=c1:i32,c2:dict8,c3:'dec(2)',c4:text
many=many

xt() { "${wrap[@]}" "$xtable" "$@" --engine=sync -S 4M -T tmp; }
xc() { "${wrap[@]}" "$xtable" "$@" --engine=sync -S 4M; }
do_load() { xt load "$@" new --csv in.csv --cell=1K --types "$types"; }
do_reload() { do_load --overwrite; }
do_convert() { xc convert "$@" t new --layout=pax --cell=2K; }
do_reconvert() { do_convert --overwrite; }
do_index() { xt index t c1 -o new; }
do_reindex() { do_index; }
do_spill() { xt index $many c1 -o new; }
do_append() { xt append t more.csv; }
do_update() { xc update t --set c1=-5,c2=black,c3=7.25 --where 'c1 > 100'; }
do_retext() { xc update t --set "c4='a text of another length'" --where 'c1 < 2900'; }
do_delete() { xc delete t --where 'c1 > 100'; }

# unchanged COMMAND FILE: says what is wrong after COMMAND failed, which writes FILE.
unchanged()
{
	case $1 in
	reload | reconvert | reindex) cmp -s old new || echo 'the old file has changed' ;;
	load | convert | index | spill) [ ! -e new ] || echo 'the new file exists' ;;
	esac
	cmp -s full t && return
	[ "$2" = t ] || echo 'the table has changed'
	"$xtable" scan t >out 2>&1
	cmp -s out in.csv || echo "wrong records: $(head -c 200 out)"
	"$xtable" check t >out 2>&1 || cat out
	[ "$(stat -c %s t)" = "$(stat -c %s full)" ] || echo "$(stat -c %s t) bytes"
}

# complete COMMAND: says what is wrong with its result, if that is a new table.
complete()
{
	[[ $1 = *load || $1 = *convert ]] || return
	"$xtable" scan new 2>&1 | cmp -s - in.csv || echo 'wrong records in the new table'
	"$xtable" check new >out 2>&1 || cat out
}

# once COMMAND FILE: runs it on a table of its own; says what is wrong.
once()
{
	local bad='' name=$2

	cp full t
	rm -f new
	case $1 in reload | reconvert | reindex) cp old new ;; esac
	"do_$1" >said 2>err
	status=$?
	case $status in
	0) bad=$(complete "$1") ;;
	2)
		[ "$(wc -l <err)" = 1 ] || bad="$(wc -l <err) messages "
		grep -Eq "^xtable: $name: (write at byte [0-9]+: )?No space left on device\$" err || bad+='the message is wrong '
		bad+=$(unchanged "$1" "$name")
		;;
	*) bad="status $status" ;;
	esac
	[ -e new ] || : >new
	ls -A . tmp >there
	cmp -s there files || bad+=" files: $(diff there files)"
	rm -rf tmp/*
	[ -z "$bad" ] || printf '%s: %s\n' "$bad" "$(head -c 300 err)"
}

# sweep COMMAND FILE CALLS STEPS NAME [VARIABLE=VALUE]...: each of these calls fails, or about STEPS of them.
sweep()
{
	local command=$1 name=$2 most=$4 what=$5 bad n i runs=0 status
	local shimmed=(env FAILCALL_CALLS="$3" FAILCALL_FD_MIN=3 FAILCALL_ERRNO=ENOSPC LD_PRELOAD="$shim" "${@:6}")

	: >count
	wrap=("${shimmed[@]}" FAILCALL_COUNT="$work/count")
	bad=$(once "$command" "$name")
	n=$(tail -n 1 count)
	[ "${n:-0}" -gt 0 ] || bad+='no such call'
	for i in $(awk -v n="$n" -v most="$most" 'BEGIN {
			for (i = 1; i < n; i += i < most / 2 ? 1 : int(2 * n / most) + 1) print i; print n }'); do
		wrap=("${shimmed[@]}" FAILCALL_AT="$i")
		once "$command" "$name" >wrong
		runs=$((runs + 1))
		# A new table has a second superblock, which it can lack.
		[ "$status" = 2 ] || { [ "$i" = "$n" ] && [[ $command = *load || $command = *convert ]]; } ||
			echo "status $status" >>wrong
		[ ! -s wrong ] || bad+="call $i of $n: $(cat wrong)"$'\n'
	done
	wrap=()
	tap_empty "$command: full at $runs of $n calls $what" "$bad"
}

full() { sweep "$1" "$2" write,pwrite,fallocate "${3:-1000}" 'that need space' FAILCALL_SPACE=1 FAILCALL_TIMES=0; }
made() { sweep "$1" new fsync,ftruncate,tmpfile,link,rename 1000 'that make a file'; }

wrap=()
"$xtable" load full --csv in.csv --cell=1K --types "$types" && cp full t &&
	seq 50 | "$xtable" load old && "$xtable" scan t | cmp - in.csv || exit 2
seq 400000 | "$xtable" load $many --types c1:i64 || exit 2
cp full t && : >new && : >said && : >err && : >out && : >there && : >count && : >wrong && ls -A . tmp >files
full load new
full reload new
full append t
full update t
full retext t 12
full delete t
full convert new
full reconvert new
full index new
"$xtable" convert old t --overwrite && "$xtable" index t c1 -o old --overwrite 2>err
full reindex new
full spill '(new|tmp)' 12
for command in load reload convert reconvert index reindex; do made $command; done
tap_done
