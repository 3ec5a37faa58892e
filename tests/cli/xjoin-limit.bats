#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# xjoin --limit and --timeline.
. "$BATS_TEST_DIRNAME/suite.bash"

setup()
{
	begin_test
	seq -f '%g left' 20000 | sort -k1,1 >l
	seq -f '%g right' 1 2 30000 | sort -k1,1 >r
}

# Is the result of these arguments N lines of the whole result?
part_of() # N ARGUMENT...
{
	local n=$1

	shift
	"$xjoin" "$@" | sort >all
	"$xjoin" --limit="$n" "$@" | sort >part
	[ "$(wc -l <part)" -eq "$n" ] && [ -z "$(comm -13 all part)" ]
}

@test "--limit=N gives N lines of the result, with each algorithm and type" {
	for algorithm in hybrid grace shj nested merge auto; do
		part_of 0 --algorithm=$algorithm l r
		part_of 1 --algorithm=$algorithm l r
		part_of 9999 --algorithm=$algorithm l r
		part_of 5000 --algorithm=$algorithm -S 512K -a1 -a2 l r
		part_of 700 --algorithm=$algorithm -v2 l r
	done
	for type in left right full semi anti; do
		part_of 100 --type=$type l r
	done
}

@test "--limit: more than there are changes nothing; the last is not cut" {
	"$xjoin" --limit=18446744073709551615 --algorithm=merge l r | cmp - <(join l r)
	"$xjoin" --limit=10000 --algorithm=merge l r | cmp - <(join l r)
	"$xjoin" --limit=9999 --algorithm=merge l r | cmp - <(join l r | head -n 9999)
}

@test "--limit: an ordered result is cut after its first lines, sorted or not" {
	shuf --random-source=l l >shuffled
	for memory in 64M 512K; do
		for type in inner full; do
			"$xjoin" -S $memory --algorithm=grace --ordered=1 --type=$type shuffled r | head -n 777 >want
			"$xjoin" -S $memory --algorithm=grace --ordered=1 --type=$type --limit=777 \
				--stats=s shuffled r | cmp - want
			grep -q '"output_records": 777' s
		done
	done
}

@test "--limit: a header is not counted, and the file appears complete" {
	printf 'key,a\n1,x\n2,y\n' >l.csv
	printf 'key,b\n1,u\n2,v\n' >r.csv
	run -0 "$xjoin" --csv --header --limit=0 l.csv r.csv
	[ "$output" = key,a,b ]
	run -0 "$xjoin" --csv --header --limit=1 --ordered=1 --output=out l.csv r.csv
	[ "$(<out)" = $'key,a,b\n1,x,u' ]
}

@test "--limit: an input that never ends is read as far as necessary" {
	yes '1 left' | timeout 20 "$xjoin" --limit=3 --build=2 - <(echo 1 right) >out
	[ "$(wc -l <out)" -eq 3 ]
	yes '1 left' | timeout 20 "$xjoin" --limit=0 - r >out
	[ ! -s out ]
}

@test "--limit: disorder found before it still fails" {
	printf '1\n3\n2\n4\n5\n' >a
	printf '4\n5\n' >b
	run -1 --separate-stderr "$xjoin" --algorithm=merge --limit=1 a b
	[ "$output" = 4 ]
	# shellcheck disable=SC2154 # run sets it
	[[ $stderr == *'a:3: is not sorted: 2'* ]]
	run -1 --separate-stderr "$xjoin" --limit=-1 a b
	[[ $stderr == *limit* ]]
}

@test "--timeline: all lines up to 999, then those of three digits, and the last" {
	"$xjoin" --timeline=t --output=out l r
	[ "$(head -n 1 t)" = row,elapsed_s ]
	cut -d, -f1 t | sed 1d | cmp - <(seq 999; seq 1000 10 9999; echo 10000)
	"$xjoin" --timeline=t --limit=1234 l r >out
	cut -d, -f1 t | sed 1d | cmp - <(seq 999; seq 1000 10 1230; echo 1234)
	cut -d, -f2 t | sed 1d | sort -c -g
	"$xjoin" --timeline=t --limit=0 l r >out
	[ "$(<t)" = row,elapsed_s ]
	for type in left semi; do
		"$xjoin" --timeline=t --type=$type -S 512K --output=out l r
		[ "$(tail -n 1 t | cut -d, -f1)" -eq "$(wc -l <out)" ]
	done
	"$xjoin" --timeline=t --ordered=1 --algorithm=grace --header l r >out
	[ "$(tail -n 1 t | cut -d, -f1)" -eq "$(($(wc -l <out) - 1))" ]
}

@test "--timeline: simulated time, the same each time; not one of the other files" {
	for i in 1 2; do
		"$xjoin" --volume=sim:cheetah36es-like,files=both --algorithm=grace -S 512K \
			--timeline=t$i --output=out l r
	done
	cmp t1 t2
	tail -n 1 t1 | awk -F, '{ exit !($1 == 10000 && $2 > 0.1) }'
	run -1 --separate-stderr "$xjoin" --timeline=l l r
	[[ $stderr == *--timeline* ]]
}
