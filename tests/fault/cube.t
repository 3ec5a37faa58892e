#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# file_tags=slow
#
# Each allocation, each call for a file and each request of mmap-cube fails, one at a time: status
# 0 and the right result, or 2 with one message; then no file that looks whole and is not.  Commands
# that change a complete cube are killed at each call, too: then it is what it was, or what it was to be.
# SP_TEST_FULL=1: at eight times as many calls, and all commands for each kind of cube.

# shellcheck disable=SC2317 # functions by the name of a command
in_memory=yes
# shellcheck source=tests/fault/sweep.bash
. "$(dirname "$0")/sweep.bash" || exit 2
# shellcheck source=tests/fault/begin.bash
. "$(dirname "$0")/begin.bash"
needs_shim

# 60 x 50 x 40 numbers: two parts of the smallest memory.
"$xgen" records --seed=1 --bytes=480000 | head -c 480000 >in || exit 2
"$xgen" records --seed=2 --bytes=28800 | head -c 28800 >later || exit 2
"$xgen" records --seed=3 --bytes=480000 | head -c 480000 >over || exit 2
dims=(--dims 60x50x40)

# made ARGUMENT...: an empty cube in empty, a full one in full.
made()
{
	rm -f empty full
	"$cube" create empty "${dims[@]}" "$@" && cp empty full && "$cube" load full in
}

# One of these prepares what a command changes, one does it, one says what is wrong after status 0.
prepare_create() { rm -f c; }
do_create() { "${wrap[@]}" "$cube" create c "${dims[@]}" "${options[@]}"; }
judge_create() { "$cube" check c >/dev/null || echo 'status 0 and no cube'; }
broken_create() { [ ! -e c ] || echo 'a file was left'; }

prepare_load() { cp empty c; }
do_load() { "${wrap[@]}" "$cube" load c in -S 512K "${moving[@]}"; }
judge_load() { "$cube" export c --verify | cmp -s - in || echo 'status 0 and wrong data'; }
# Whatever stays is whole, or says that it is not; it can be loaded again.
broken_load()
{
	if "$cube" export c --verify >out 2>/dev/null; then
		cmp -s out in || head -c 480000 /dev/zero | cmp -s - out || echo 'a cube that looks whole'
	fi
	"$cube" check c >out || echo "check: $(cat out)"
	"$cube" load c in --resume && judge_load
}
# A complete cube keeps its elements, or has the new ones.
prepare_reload() { cp full c; }
do_reload() { "${wrap[@]}" "$cube" load c over -S 512K "${moving[@]}"; }
judge_reload() { "$cube" export c --verify | cmp -s - over || echo 'status 0 and wrong data'; }
broken_reload()
{
	"$cube" check c >out || echo "check: $(cat out)"
	"$cube" export c --verify >out || echo 'no complete cube'
	cmp -s out in || cmp -s out over || echo 'neither the old elements nor the new ones'
}

# Elements of all parts, over those that are there.
prepare_merge() { cp full c; }
do_merge() { "${wrap[@]}" "$cube" load c some.csv -S 512K "${moving[@]}"; }
judge_merge() { "$cube" export c --verify | cmp -s - merged || echo 'status 0 and wrong data'; }
broken_merge()
{
	"$cube" check c >out || echo "check: $(cat out)"
	"$cube" export c --verify >out || echo 'no complete cube'
	cmp -s out in || cmp -s out merged || echo 'neither the old elements nor the new ones'
	"$cube" load c some.csv && judge_merge
}

# Elements that are added to those that are there.
prepare_rollup() { cp full c; }
do_rollup() { "${wrap[@]}" "$cube" load c some.csv --rollup=0:1 -S 512K "${moving[@]}"; }
judge_rollup() { "$cube" export c --verify | cmp -s - added || echo 'status 0 and wrong data'; }
broken_rollup()
{
	"$cube" check c >out || echo "check: $(cat out)"
	"$cube" export c --verify >out || echo 'no complete cube'
	cmp -s out in || cmp -s out added || echo 'neither the old elements nor the sums'
}

prepare_range() { cp full c; printf 'old\n' >out; }
do_range() { "${wrap[@]}" "$cube" range c --lo 1,2,3 -o out -S 512K --verify "${moving[@]}"; }
judge_range() { cmp -s out range || echo 'status 0 and a wrong result'; }
broken_range() { [ "$(head -c 9 out)" = old ] || echo 'an incomplete output'; }

prepare_put() { cp full c; }
do_put() { "${wrap[@]}" "$cube" put c 5,6,7 0.5 "${moving[@]}"; }
judge_put() { [ "$("$cube" get c --verify 5,6,7)" = 0.5 ] || echo 'status 0 and not put'; }
# The element was put or not, all others are unchanged, and the next put succeeds.
broken_put()
{
	"$cube" check c >out || echo "check: $(cat out)"
	"$cube" export c --verify >out
	cmp -s out in || cmp -s out put || echo 'neither the old element nor the new one'
	"$cube" check c --repair >repaired || echo "check --repair: $(cat repaired)"
	"$cube" export c --verify | cmp -s - out || echo 'repair changed elements'
	"$cube" put c 5,6,7 0.5 && judge_put
}

# Elements that share tiles with those that are there.
prepare_append() { cp full c; }
do_append() { "${wrap[@]}" "$cube" append c later --dim=1 -S 512K "${moving[@]}"; }
judge_append()
{
	"$cube" range c --verify --hi 60,50,40 | cmp -s - in || echo 'status 0 and old elements changed'
	"$cube" range c --verify --lo 0,50,0 | cmp -s - later || echo 'status 0 and wrong data'
}
# The cube is what it was, or a kill came after the head of the new one was written.
broken_append()
{
	"$cube" check c >out || echo "check: $(cat out)"
	"$cube" export c --verify | cmp -s - in && return
	if [ "$status" = 137 ]; then judge_append; else echo 'the cube is not what it was'; fi
}

prepare_check() { cp full c; }
do_check() { "${wrap[@]}" "$cube" check c "${moving[@]}" >out; }
judge_check() { grep -q ' 0 damaged' out || echo 'status 0 and damage'; }
broken_check() { :; }

# Points: a load and a reorganisation replace the file as a whole; a point is put or not.
prepare_add() { cp points c; }
do_add() { "${wrap[@]}" "$cube" load c more.csv -S 1M -T tmp; }
judge_add() { "$cube" export c --format csv | cmp -s - both.csv || echo 'status 0 and wrong points'; }
broken_add() { "$cube" export c --format csv | cmp -s - points.csv || judge_add; }

prepare_pack() { cp points c; }
do_pack() { "${wrap[@]}" "$cube" reorganise c -S 1M -T tmp; }
judge_pack() { "$cube" export c --format csv | cmp -s - points.csv || echo 'status 0 and wrong points'; }
broken_pack() { judge_pack; }

prepare_find() { cp points c; printf 'old\n' >out; }
do_find() { "${wrap[@]}" "$cube" range c --lo 10,10 -o out --format csv -S 1M -T tmp; }
judge_find() { cmp -s out found.csv || echo 'status 0 and a wrong result'; }
broken_find() { [ "$(head -c 9 out)" = old ] || echo 'an incomplete output'; }

prepare_insert() { cp points c; }
do_insert() { "${wrap[@]}" "$cube" put c 1,1 7; }
judge_insert() { "$cube" export c --format csv | cmp -s - put.csv || echo 'status 0 and not put'; }
broken_insert()
{
	"$cube" export c --format csv >out
	cmp -s out points.csv || cmp -s out put.csv || echo 'points are lost'
	"$cube" check c >out || echo "check: $(cat out)"
}

prepare_erase() { cp points c; }
do_erase() { "${wrap[@]}" "$cube" delete c 1,1 7; }
judge_erase() { "$cube" export c --format csv | cmp -s - erased.csv || echo 'status 0 and not deleted'; }
# Some of the points that were to be deleted can be left.
broken_erase()
{
	"$cube" export c --format csv >out
	[ "$(grep -v '^1,1,7$' out)" = "$(cat erased.csv)" ] || echo 'points are lost'
	"$cube" check c >out || echo "check: $(cat out)"
}

# once COMMAND: says what is wrong.
once()
{
	local bad=''

	"prepare_$1"
	"do_$1" 2>err
	status=$?
	case $status in
	0) bad=$("judge_$1" 2>&1) ;;
	2)
		messages mmap-cube
		[ "$messages" = 1 ] || bad="$lines messages "
		bad+=$("broken_$1" 2>&1)
		;;
	137)
		bad=$("broken_$1" 2>&1)
		rm -f tmp/*
		;;
	*) bad="status $status" ;;
	esac
	holds tmp || bad+=" left in -T"
	[ -z "$bad" ] || printf '%s: %s\n' "$bad" "$(head -c 300 err)"
}

full=${SP_TEST_FULL:-}
few() { echo $((full ? $1 : ($1 + 15) / 8)); }

# kills COMMAND CALLS STEPS NAME: about STEPS of the calls, or an eighth, kill the command.
kills()
{
	export FAILCALL_KILL=1
	sweep "$1" "$2" "$(few "$3")" "killed, $4"
	unset FAILCALL_KILL
}

# all COMMANDS NAME OPTION...: these commands, of which some change a complete cube, on a cube created
# with the options.
changing=' put reload merge rollup append '
all()
{
	local commands=$1 name=$2 command call

	shift 2
	options=("$@")
	made "$@" || exit 2
	"$cube" range full --lo 1,2,3 -o range || exit 2
	awk 'BEGIN { for (i = 0; i < 999; i++) print i % 60 "," i % 47 "," i % 40 "," i }' >some.csv
	cp full c && "$cube" load c some.csv && "$cube" export c >merged || exit 2
	cp full c && "$cube" load c some.csv --rollup=0:1 && "$cube" export c >added || exit 2
	cp full c && "$cube" put c 5,6,7 0.5 && "$cube" export c >put || exit 2
	for command in $commands; do
		[[ $changing != *" $command "* ]] ||
			kills "$command" 'pwrite write fsync ftruncate fallocate' 40 "$name"
		sweep "$command" alloc "$(few 16)" "$name"
		for call in open read pread write pwrite close fsync ftruncate rename; do
			sweep "$command" "$call" "$(few 4)" "$name"
		done
	done
}

# all_points: the commands of a dataset of points, with full cells at 1,1.
all_points()
{
	local command call

	awk 'BEGIN { srand(1); for (i = 0; i < 960; i++) print (i < 360 ? "1,1," : int(rand() * 999) "," int(rand() * 999) ",") i % 200 }' >some.csv
	awk 'BEGIN { srand(2); for (i = 0; i < 90; i++) print int(rand() * 999) "," int(rand() * 999) "," i }' >more.csv
	"$cube" create points --points --dims 1000x1000 --dtype u8 --cell 512 --mapping naive
	"$cube" load points some.csv && "$cube" export points --format csv >points.csv
	cp points c && "$cube" range c --lo 10,10 --format csv >found.csv
	"$cube" put c 1,1 7 && "$cube" export c --format csv >put.csv
	cp points c && "$cube" delete c 1,1 7 && "$cube" export c --format csv >erased.csv
	cp points c && "$cube" load c more.csv && "$cube" export c --format csv >both.csv || exit 2
	kills insert 'pwrite write fsync ftruncate' 20 points
	kills erase 'pwrite write fsync ftruncate' 40 points
	kills add 'pwrite write fsync ftruncate rename link' 12 points
	for command in add pack find insert erase; do
		sweep "$command" alloc "$(few 16)" points
		for call in open read pread write pwrite close fsync ftruncate rename; do
			sweep "$command" "$call" "$(few 8)" points
		done
	done
}

# requests COMMAND KIND: requests of the engine that fail, one after the other.
requests()
{
	local command=$1 kind=$2 i=1 runs=0 what bad=''

	while [ $i -lt 40 ]; do
		moving=("--engine=fault:SCOPE=PROCESS,KIND=$kind,NTH=$i,ERROR=EIO:$engine")
		once "$command" >wrong
		[ ! -s wrong ] || bad+="request $i: $(cat wrong)"$'\n'
		[ $status = 2 ] || break
		runs=$((runs + 1)) i=$((i + (full || i < 3 ? 1 : 9)))
	done
	moving=()
	[ $runs -gt 0 ] || bad+='no request failed'
	tap_empty "$command: each of $runs ${kind,,} requests that fails is reported" "$bad"
}

moving=() wrap=()
every='create load reload merge rollup append range put check'
all "$every" 'in rows' --mapping naive
engine=sync
requests load WRITE
requests reload WRITE
requests merge READ
requests merge WRITE
requests rollup READ
requests rollup WRITE
requests append READ
requests append WRITE
requests range READ
requests check READ
requests put READ
requests put WRITE
[ "$full" ] || every="load append"
all "$every" 'on tracks' --mapping multimap --volume sim:atlas10k3-like
engine=sim
requests load WRITE
requests merge WRITE
requests append WRITE
requests range READ
all_points
all_swept
tap_done
