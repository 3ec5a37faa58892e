#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# file_tags=slow
#
# The states that a power failure can leave of changed cubes and tables, and of a sort with --resume
# (tests/fault/powerfail.py).  SP_POWER_STATES=N: at least so many seeded states for each command, by
# default 8; SP_POWER_SUBSETS=N: all subsets of at most so many changes, by default 3, or 2 of a sort.
# SP_TEST_FULL=1: 200, 10 and 4 by default, and each change on each layout.

# shellcheck disable=SC2016 # bash of the driver expands them
in_memory=yes
driver=$(realpath "${BASH_SOURCE[0]%/*}/powerfail.py")
# shellcheck source=tests/fault/begin.bash
. "$(dirname "$0")/begin.bash"
needs python3
needs_shim
export cube xsort xtable
full=${SP_TEST_FULL:-} subsets=${SP_POWER_SUBSETS:-}
export SP_POWER_STATES=${SP_POWER_STATES:-$((full ? 200 : 8))} SP_POWER_SUBSETS=${subsets:-$((full ? 10 : 3))}

# power NAME CHECK COMMAND...: in the folder "disk".
power()
{
	local name=$1 check=$2 out

	shift 2
	out=$(python3 "$driver" "$build/tests/shim/powerfail.so" disk "$check" "$@" 2>&1) || out+=" status $?"
	tap_empty "$name: right after a power failure ($(tail -n 1 <<<"$out"))" \
		"$(sed -E '$ { /^[1-9][0-9]* states$/ d }' <<<"$out")"
}

# The driver finds a file that is changed without a sync, and a name that is not durable.
found()
{
	local check=$1

	rm -rf disk
	mkdir disk
	printf 'a%.0s' {1..4096} >disk/f
	tr a b <disk/f >new
	shift
	python3 "$driver" "$build/tests/shim/powerfail.so" disk "$check" "$@" 2>&1
}
same='grep -Eqx "a+|b+" f && { [ "$POWER_ENDED" = 0 ] || grep -q b f; } || echo torn'
torn() { found "$same" dd if=../new of=f bs=1K conv=notrunc,fsync status=none | grep -q 'torn$'; }
tap 'a file that is written in place is found torn' torn
durable() { [ "$(found "$same" dd if=../new of=f bs=1K count=4 oflag=dsync conv=notrunc status=none | grep -c 'after the end')" = 0 ]; }
tap 'and whole after the end if each write is synced' durable
unsynced() { found '[ -e g ] || echo gone' ln f g | grep -q '^after the end.*gone$'; }
tap 'a name without a sync of its folder is found lost' unsynced

# A cube is as it was or as it is after the command; if the command ended, as after it.  A superblock
# that was torn is reported, since it might be damage, until the cube is repaired.
compare='"$cube" check c >out 2>err || {
		[ "$POWER_ENDED" = 0 ] && grep -q "last change may be missing" err && "$cube" check --repair c >out 2>&1
	} || cat out err
	"$cube" export c --verify --format csv >out 2>err || cat err
	cmp -s out ../after || { [ "$POWER_ENDED" = 0 ] && cmp -s out ../before; } ||
		echo "neither the old elements nor the new ones"'

# changed NAME COMMAND ARGUMENT...: mmap-cube COMMAND c ARGUMENT... on a copy of the folder "full".
changed()
{
	local name=$1 command=$2

	shift 2
	rm -rf disk c
	cp -r full disk
	cp -r full c
	(cd c && "$cube" export c --format csv >../before && "$cube" "$command" c "$@" && "$cube" export c --format csv >../after) || exit 2
	power "mmap-cube $command, $name" "$compare" "$cube" "$command" c "$@" "${engine[@]}"
}

"$xgen" records --seed=1 --bytes=4000 | head -c 3840 >in || exit 2
"$xgen" records --seed=2 --bytes=2000 | head -c 1536 >later || exit 2
awk 'BEGIN { for (i = 0; i < 40; i++) print i % 8 "," i % 5 "," i % 3 "," i }' >some.csv
all()
{
	local name=$1

	shift
	rm -rf full
	mkdir full
	(cd full && "$cube" create c --dims 8x10x12 --dtype f32 "$@" && "$cube" load c ../in) || exit 2
	changed "$name" put 5,6,7 0.5
	changed "$name" append ../later --dim=1
	changed "$name" load ../some.csv
}
engine=(--engine=sync)
all 'in rows' --mapping naive
engine=() # a simulated volume has its own
all 'on tracks' --mapping multimap --volume sim:atlas10k3-like

engine=(--engine=sync)
awk 'BEGIN { srand(1); for (i = 0; i < 960; i++) print (i < 360 ? "1,1," : int(rand() * 999) "," int(rand() * 999) ",") i % 200 }' >points.csv
rm full/c
(cd full && "$cube" create c --points --dims 1000x1000 --dtype u8 --cell 512 --mapping naive && "$cube" load c ../points.csv) || exit 2
changed 'of points' put 1,1 7
changed 'of points' delete 1,1 180
rm full/c
(cd full && "$cube" create c --points --dims 1000x1000 --dtype u8 --cell 512 --mapping naive --volumes=2 && "$cube" load c ../points.csv) || exit 2
changed 'of points on two volumes' delete 1,1 180
changed 'of points on two volumes' load ../points.csv

# A table is as it was or as it is after the command, in all values; if the command ended, as after it.
same_table='"$xtable" check t >out 2>err || cat out err
	"$xtable" scan t >out 2>err || cat err
	cmp -s out ../after || { [ "$POWER_ENDED" = 0 ] && cmp -s out ../before; } ||
		echo "neither the old records nor the new ones"'

# table_changed NAME COMMAND ARGUMENT...: xtable COMMAND t ARGUMENT... on a copy of the folder "full".
table_changed()
{
	local name=$1 command=$2

	shift 2
	rm -rf disk copy
	cp -r full disk
	cp -r full copy
	(cd copy && "$xtable" scan t >../before && "$xtable" "$command" t "$@" && "$xtable" scan t >../after) || exit 2
	power "xtable $command, $name" "$same_table" "$xtable" "$command" t "$@" --engine=sync
}
awk 'BEGIN { for (i = 0; i < 400; i++) printf "%d,%s,%.2f,%s%d\n", i, i % 3 ? "red" : "blue", i * 7 % 100 / 4, substr("abcdefghijklmnop", 1, i % 16), i }' >in.csv
awk 'BEGIN { for (i = 0; i < 60; i++) printf "%d,green,%.2f,more%d\n", i, i, i }' >more.csv
"$diskprobe" sim:tiny -o tracks.json >/dev/null 2>&1 || exit 2
for layout in csm nsm semiseq volumes; do
	rm -rf full
	mkdir full
	how=("--layout=$layout")
	[ $layout != semiseq ] || how=(--placement=semiseq --volumes=2 --geometry=tracks.json)
	[ $layout != volumes ] || how=(--placement=semiseq "--volumes=v1,v2" --geometry=tracks.json)
	"$xtable" load full/t --csv in.csv "${how[@]}" --cell=512 \
		--types c1:i32,c2:dict8,c3:'dec(2)',c4:text || exit 2
	# Each layout meets half of the commands, each command two layouts.
	if [ "$full" ] || [[ $layout = csm || $layout = semiseq ]]; then
		table_changed "numbers, $layout" update --set c1=-5,c3=77.77 7 300 301
		table_changed "texts in place, $layout" update --set c4=ABC 3
		table_changed "$layout" append ../more.csv
	fi
	if [ "$full" ] || [[ $layout = nsm || $layout = volumes ]]; then
		table_changed "texts and words, $layout" update --set "c2=black,c4='a text of another length'" 8 9 250
		table_changed "$layout" delete 1 2 399
	fi
	case $layout in csm | nsm)
		table_changed "$layout" alter --add n:text,m:i16 --set n=new --types c2:dict16 --drop c3
		;;
	esac
done

# A sort continues with the right result, or says that it must begin again.
again='run() { "$xsort" --resume=d -o "$out" "${arguments[@]}" in 2>err; }
	run || { grep -q "to start again$" err && rm -r d && run; } || cat err
	cmp -s "$out" ../want || echo "a wrong result"'
# resumed NAME OUTPUT ARGUMENT...
resumed()
{
	local name=$1 out=$2

	shift 2
	rm -rf disk
	mkdir disk
	cp in disk/in
	"$xsort" "$@" in >want
	power "xsort $name" "out=$out; arguments=($*); $again" \
		"$xsort" --resume=d -o "$out" "$@" in --engine=sync
}
seq 60000 | awk '{ print ($1 * 7919) % 20011, $1 }' >in
SP_POWER_SUBSETS=${subsets:-$((full ? 4 : 2))}
resumed 'with one thread' out -n -S 600K --parallel=1
resumed 'over its input' in -n -S 600K --parallel=2
resumed 'that merges several times' out -s -k1n -S 600K --fan-in=2 --run-size=150K
tap_done
