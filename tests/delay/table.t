#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Tables: tasks that parse chunks of a load, check and print windows of a scan, make keys of an index.

# shellcheck source=tests/delay/lib.bash
. "$(dirname "$0")/lib.bash"

# The words of c3 are first seen in many chunks, and their codes follow the order of the input.
awk 'BEGIN { for (i = 0; i < 60000; i++)
	printf "%d|%d|word%d|text %d %s|%d.25\n", i, i * 7919 % 9973, int(i / 300), i, substr("xxxxxxxxxxxxxxxxxxxxx", 1, i % 21), i % 50 }' >in
head -n 20000 in >added
{ head -n 55000 in; echo '1|2|w|no decimal|x'; tail -n 5000 in; } >bad
types=c1:u32,c2:i32,c3:dict16,c4:text,c5:'dec(2)'
"$xtable" load full --parallel=1 -S 4M -t'|' --types "$types" --seed=1 in || exit 2
"$xtable" index full c2 -o full.index --parallel=1 --seed=1 || exit 2
"$xtable" scan full | cmp - in || exit 2
awk -F'|' '$2 < 5000 { print $4 "|" $1 }' in >chosen
awk -F'|' '$2 < 25 { print $4 "|" $1 }' in >few
awk -F'|' '{ n++; s += $1 } END { printf "%d|%d\n", n, s }' in >totals
# With little memory each of these records is a window, and so a task.
awk 'BEGIN { for (i = 0; i < 150; i++) print i * 7919 % 60000 }' >numbers
awk 'NR == FNR { line[NR - 1] = $0; next } { print line[$1] }' in numbers >numbered
seq 0 500 9972 >keys
awk -F'|' 'NR == FNR { r[$2] = r[$2] $0 "\n"; next } { printf "%s", r[$1] }' in keys >keyed
awk -F'|' -v OFS='|' '$2 < 5000 { $1 = 7; $4 = "another text" } { print }' in >updated
cat in added >appended

layouts=(csm nsm pax)
engines=(sync libaio auto)

# x SEED COMMAND ARGUMENT...: with options of this seed.
x()
{
	local seed=$1

	shift
	"$xtable" "$@" -S $((4 << seed % 3))M --parallel="${threads[seed % 3]}" --engine="${engines[seed / 3 % 3]}" 2>err
}

# plain COMMAND ARGUMENT...: without delays.
plain() { SP_TASK_DELAY='' "$xtable" "$@" --parallel=1; }
for layout in "${layouts[@]}"; do
	plain convert full full.$layout --layout=$layout --cell=1K || exit 2
done

# layout_of SEED
layout_of() { echo "${layouts[$1 % 3]}"; }

# checked FILE WANTED: what is wrong with this table.
checked()
{
	plain scan "$1" >out 2>err
	same "$2" $?
	plain check "$1" >out 2>&1 || cat out
}

a_load()
{
	from in "$1" x "$1" load t -t'|' --types "$types" --seed=1 -T tmp --overwrite
	checked t in
	plain scan t --agg 'max(c3),count()' --where "c3 = 'word199'" | grep -qx 'word199|300' || echo 'wrong words'
}

# An inferred load reads a sample first, and starts once more if a value does not fit.
an_inferred_load()
{
	x "$1" load t -t'|' --overwrite in
	checked t in
}

# The first record that is wrong is reported, and the tasks behind it end.
a_load_that_fails()
{
	rm -f u
	from bad "$1" x "$1" load u -t'|' --types "$types" >out && echo 'status 0'
	[ "$(wc -l <err)" = 1 ] && grep -q "^xtable: -: line 55001: column 'c5': 'x' is not" err || echo "said $(head -c 300 err)"
	[ ! -e u ] || echo 'a table is left'
}

a_scan()
{
	local table lines=$(($1 * 977 % 50000))

	table=full.$(layout_of "$1")
	x "$1" scan "$table" >out
	same in $?
	x "$1" scan "$table" --where 'c2 < 5000' --columns=c4,c1 --access=s-scan >out
	same chosen $?
	x "$1" scan "$table" --where 'c2 < 25' --columns=c4,c1 --access=si-scan >out
	same few $?
	x "$1" scan "$table" --agg 'count(),sum(c1)' >out
	same totals $?
	x "$1" scan "$table" --limit=$lines >out
	head -n $lines in >some
	same some $?
}

# The reader of a scan leaves.
an_abandoned_scan()
{
	local lines=$(($1 * 13 % 9000))

	x "$1" scan "full.$(layout_of "$1")" | head -n $lines >out
	head -n $lines in >some
	same some 0
}

a_get()
{
	x "$1" get "full.$(layout_of "$1")" --keys=numbers >out
	same numbered $?
	x "$1" get full --by=c2 --keys=keys --index=full.index >out
	same keyed $?
}

an_index()
{
	x "$1" index full c2 -o new.index -T tmp --seed=1
	plain get full --by=c2 --keys=keys --index=new.index >out 2>err
	same keyed $?
}

a_change()
{
	cp "full.$(layout_of "$1")" t
	x "$1" update t --set "c1=7,c4='another text'" --where 'c2 < 5000' || cat err
	checked t updated
	x "$1" convert t u --overwrite --layout="${layouts[$1 / 3 % 3]}" || cat err
	checked u updated
}

an_append()
{
	cp "full.$(layout_of "$1")" t
	from added "$1" x "$1" append t || cat err
	checked t appended
}

seeds a_load
seeds an_inferred_load
seeds a_load_that_fails
seeds an_abandoned_scan
seeds an_index
seeds a_change
seeds an_append
# A seed of these takes 1 s: they have half of the seeds, unless those are given.
[ -n "${2:-}" ] || last=$((first + (last - first) / 2))
seeds a_scan
seeds a_get
tap_done
