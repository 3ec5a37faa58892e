#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# bats file_tags=slow
#
# The result of a join is the same, byte for byte, for any number of threads.
# SP_TEST_FULL=1: each way of reading and writing with each number of them.
. "$BATS_TEST_DIRNAME/suite.bash"

setup() { begin_test tmp; }

full=${SP_TEST_FULL:-} turn=0

# Keys 1 to $2, $1 lines of file $3.
lines()
{
	awk -v n="$1" -v keys="$2" -v name="$3" 'BEGIN {
		srand(n)
		for (i = 1; i <= n; i++)
			printf "%d|%s%d|%s\n", 1 + int(rand() * keys), name, i, substr("abcdefghijklmnopqrstuvwxyz", 1 + i % 20)
	}' >"$3"
}

# Makes every line of file $2 long whose number $1 divides.
longer()
{
	head -c 700000 /dev/zero | tr '\0' x >long
	awk -v at="$1" 'BEGIN { getline long <"long" } { print $0 (NR % at ? "" : long) }' "$2" >q
	mv q "$2"
}

# The arguments give one result with 1, 2, 3 and 8 threads, from files and from a pipe.
same()
{
	local n

	"$xjoin" --parallel=1 "$@" l r >want
	[ -s want ]
	for n in ${full:+2 3} 8; do
		"$xjoin" --parallel=$n "$@" l r | cmp - want
	done
	for n in ${full:+2} 3 ${full:+8}; do
		"$xjoin" --parallel=$n --output=out "$@" l r
		cmp out want
	done
	turn=$((turn + 1))
	[ -n "$full" ] || [ $((turn % 3)) = 0 ] || return 0
	"$xjoin" --parallel=1 "$@" - r <l >want
	sort want >sorted
	for n in ${full:+2} 8; do
		cat l | "$xjoin" --parallel=$n "$@" - r | sort | cmp - sorted
	done
}

@test "in memory and in temporary space" {
	lines 40000 9000 l
	lines 8000 10000 r
	for type in inner left full semi anti; do
		same -S 64M --algorithm=hybrid --build=2 -t'|' --type=$type
		same -S 12M --join-memory=256K --algorithm=grace -t'|' --type=$type
	done
	same -S 12M --join-memory=256K --algorithm=nested -t'|'
	same -S 12M --join-memory=256K --algorithm=nested -t'|' --type=full
	same -S 12M --join-memory=512K --algorithm=hybrid --build=1 -t'|' --type=full
}

# More than 16 MB, so that a task touches memory ahead of them.
@test "a large table" {
	lines 20000 400000 l
	awk 'BEGIN { for (i = 1; i <= 300000; i++) printf "%d|%d|the rest of a record of the input that builds\n", i, -i }' >r
	same -S 64M --algorithm=hybrid --build=2 -t'|'
	same -S 64M --ordered=1 -t'|' --type=right
	same -S 24M --algorithm=hybrid --build=2 -t'|' --type=full
}

# Small tables have one band.  The second has less than expected, the third more.
@test "a table of few long records" {
	long='{ printf "%d|%0120d\n", $1 * 7919 % 1000003, $1 }'
	lines 20000 400000 l
	seq 50000 | awk "$long" >r
	same -S 64M --algorithm=hybrid --build=2 -t'|' --type=full
	{ seq -f '%.0f|a' 20000; seq 20001 60000 | awk "$long"; } >r
	same -S 64M --algorithm=hybrid --build=2 -t'|' --type=right
	{ seq 20000 | awk "$long"; seq -f '%.0f|a' 20001 300000; } >r
	same -S 64M --algorithm=hybrid --build=2 -t'|' --type=right
}

@test "in the order of an input" {
	lines 40000 9000 l
	lines 8000 10000 r
	for order in 1 2; do
		same -S 64M --ordered=$order -t'|' --type=left
		same -S 12M --join-memory=256K --ordered=$order -t'|' --type=inner
		same -S 12M --join-memory=256K --ordered=$order -t'|' -e "$(printf 'a\nb')" -o 0,1.2,2.9
	done
}

@test "with keys that are made up, and CSV" {
	lines 20000 9000 l
	lines 8000 10000 r
	same -S 64M -t'|' -i -o 1.2,2.2,0
	same -S 12M --join-memory=256K -t'|' -1 1,1 -2 1,1
	sed -i 's/|/,"/; s/|/\n/; s/$/"/' l
	awk '{ print }' RS='\n' l | sed 'N; s/"\n/\n/' >q && mv q l
	tr '|' , <r >q && mv q r
	same -S 64M --csv --build=2 -o 0,1.2,2.2,2.3
	same -S 12M --join-memory=256K --csv -o 0,1.2,2.2,2.3
}

@test "if records have many partners, or are larger than a bundle" {
	lines 4000 3 l
	lines 500 3 r
	same -S 64M --algorithm=hybrid --build=2 -t'|'
	same -S 64M --ordered=1 -t'|'
	lines 30000 3000 l
	lines 4000 3000 r
	longer 9000 l
	longer 3000 r
	same -S 64M --algorithm=hybrid --build=2 -t'|'
	same -S 12M --join-memory=512K --algorithm=hybrid -t'|'
	same -S 64M --ordered=1 -t'|'
}

@test "binary records" {
	head -c 1600000 /dev/urandom >l
	head -c 400000 /dev/urandom >r
	same -S 64M --record-size=16 --bkey=0:2
	same -S 12M --join-memory=256K --record-size=16,8 --bkey=0:2,2:2
}

@test "the reader of the result can leave" {
	lines 200000 50000 l
	lines 50000 50000 r
	for n in $(few 2 8); do
		run -0 bash -c "'$xjoin' -S 64M --build=2 --algorithm=hybrid --parallel=$n -t'|' l r | head -n 3 | wc -l"
		[ "$output" = 3 ]
		run -0 --separate-stderr bash -c \
			"'$xjoin' -S 12M --join-memory=512K --algorithm=hybrid --parallel=$n -t'|' l r | head -n 3 | wc -l"
		[ -z "$stderr" ]
	done
	[ -z "$(ls tmp)" ]
}

# Sorted lines with keys 1000000 to $1, each about $2 times, in file $3.
sorted_lines()
{
	awk -v keys="$1" -v times="$2" -v name="$3" 'BEGIN {
		srand(keys + times)
		for (k = 1000000; k < 1000000 + keys; k++)
			for (n = int(rand() * 2 * times + 0.5); n > 0; n--)
				printf "%d %s%d %s\n", k, name, ++i, substr("abcdefghijklmnopqrstuvwxyz", 1 + i % 20)
	}' >"$3"
}

# Status, result and messages of a merge of l and r, and those of GNU join.
as_gnu()
{
	local n status=0

	LC_ALL=C join "$@" l r >want 2>messages || status=$?
	for n in 1 ${full:+2} 3 ${full:+8} 16; do
		LC_ALL=C "$xjoin" --algorithm=merge -S 8M --parallel=$n "$@" l r >got 2>reported || [ $? = "$status" ]
		cmp got want
		sed 's/^[^:]*: *//' reported >texts
		sed 's/^[^:]*: *//' messages | cmp - texts
	done
}

# Files that seem sorted, with one thread and with several.
merged()
{
	local n

	"$xjoin" --parallel=1 "$@" l r >want
	for n in 2 ${full:+3} 8 ${full:+16}; do
		"$xjoin" --parallel=$n "$@" l r | cmp - want
	done
	for n in ${full:+2} 3 ${full:+8} 16; do
		"$xjoin" --parallel=$n --output=out "$@" l r
		cmp out want
	done
}

@test "sorted files, by ranges of keys" {
	export LC_ALL=C
	sorted_lines 60000 1 l
	sorted_lines 80000 0.7 r
	for options in '' '-a1' '-a1 -a2 -e none -o auto' '-v2' '-i' '--header' '--check-order' '-o 2.3,1.2,0'; do
		as_gnu $options
	done
	merged -S 8M
	truncate -s -1 l r
	as_gnu -a1
	merged -S 64M --header
	: >r
	as_gnu -a1
	merged -S 8M
}

@test "a key in half of the lines of a sorted file" {
	export LC_ALL=C
	sorted_lines 40000 1 l
	awk '{ print } $1 == 1020000 && !done++ { for (i = 0; i < 40000; i++) print $1, "more", i }' l >q && mv q l
	sorted_lines 40000 1 r
	as_gnu -a2
	merged -S 8M
	mv l q && mv r l && mv q r
	merged -S 8M
}

# Lines that a cut might come between, and others.
@test "disorder in sorted files" {
	export LC_ALL=C
	sorted_lines 60000 1 ordered
	sorted_lines 60000 0.7 r
	for at in 2 ${full:+9000} 20000 ${full:+33333 47111} 59000; do
		awk -v at=$at 'NR == at { held = $0; next } { print } NR == at + 1 { print held }' ordered >l
		for options in '' '-a1' '--check-order' '--nocheck-order -v2'; do
			as_gnu $options
		done
		merged -S 8M
	done
	awk 'NR == 20000 { print "9999999 x" } { print }' ordered >l
	as_gnu -a1
	merged -S 8M
	mv l q && mv r l && mv q r
	as_gnu -a2
	merged -S 8M
}

# One thread must build the table: the length of the lines is not that of the first ones.
@test "a table that does not fit as expected" {
	{ seq -f '%.0f|a line that is longer than those after it, at the beginning' 20000; seq 20001 500000; } >r
	seq 3 7 500000 | sed 's/$/|x/' >l
	same -S 24M --algorithm=hybrid --build=2 -t'|'
	same -S 64M --algorithm=hybrid --build=2 -t'|' --type=full
}

# The last line is out of order, so both files are read again.
@test "files that change between a merge and the join of the rest" {
	local n change in status

	export LC_ALL=C
	sorted_lines 120000 1 r
	sorted_lines 120000 1 original
	echo '1 last' >>original
	mkfifo result
	for n in $(few 1 2 8); do
		for change in 'echo more >>l' 'touch l' 'cp l q; mv q l'; do
			cp original l
			"$xjoin" -S 8M --parallel=$n l r >result 2>messages 3>&- &
			exec {in}<result
			read -r -N 1 -u "$in"
			eval "$change"
			cat <&"$in" >got
			exec {in}<&-
			status=0
			wait $! || status=$?
			if [ "${change%% *}" = cp ]; then
				[ "$status" = 1 ]
				[ "$(cat messages)" = 'xjoin: l: has changed while it was read' ]
			else
				[ "$status" = 0 ]
				[ "$(wc -l <got)" -eq "$(join <(sort original) r | wc -l)" ]
			fi
		done
	done
}
