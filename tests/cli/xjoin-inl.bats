#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# xjoin by index nested loops.  The expected result is that of a hash join or, for several
# files, of awk.
. "$BATS_TEST_DIRNAME/suite.bash"
load keys

# Lines of up to four fields of numbers, some empty, few long.
lines() # SEED LINES SPREAD
{
	awk -v seed="$1" -v n="$2" -v spread="$3" 'BEGIN {
		srand(seed)
		while (n--) {
			line = ""
			nf = int(rand() * 5 + 0.8)
			for (f = 1; f <= nf; f++)
				line = line (f > 1 ? "|" : "") (rand() < 0.1 ? "" : int(rand() * spread))
			for (i = nf == 4 && rand() < 0.02 ? rand() * 20000 : 0; i > 0; i -= 10)
				line = line "xxxxxxxxxx"
			print line
		}
	}'
}

# Inputs a and b, and indexes of field 2 of both.
inputs() # SEED LINES LINES SPREAD
{
	lines "$1" "$2" "$4" >a
	lines "$((1000 + $1))" "$3" "$4" >b
	"$xindex" build -t'|' -k2,2 -o a.index a
	"$xindex" build -t'|' -k2,2 -o b.index b
}

# Index nested loops do with arguments what a hash join does.
same() # ARGUMENT...
{
	"$xjoin" -t'|' -j2 --algorithm=hybrid "$@" a b >want || return
	"$xjoin" -t'|' -j2 "${inl[@]}" "$@" a b >got || return
	[[ $* == *--ordered* ]] || sort -o want want
	[[ $* == *--ordered* ]] || sort -o got got
	cmp want got
}

# An error of this join shows the command that makes the index of b; with it results are a hash
# join's.
made() # b ARGUMENT...
{
	local b=$1

	shift
	run -1 --separate-stderr "$xjoin" "$@" a "$b" || return
	eval "\"$xindex\" ${stderr#*; xindex }" || return
	"$xjoin" "$@" --index2="$b.index" a "$b" >got && "$xjoin" "${@/%--algorithm=inl/--algorithm=hybrid}" a "$b" >want &&
		[ -s want ] && cmp want got
}

number() # FILE KEY
{
	sed -n "s/^ *\"$2\": \([^,]*\),*\$/\1/p" "$1" | head -n 1
}

@test "index nested loops: results are those of a hash join" {
	local seed type

	for seed in 1 2 3 4; do
		inputs $seed $((seed * 70)) $((seed * 300)) $((30 + seed * 90))
		for type in inner left semi anti; do
			inl=(--index2=b.index --algorithm=inl)
			same --type=$type
			inl=(--index2=b.index --algorithm=async-inl)
			same --type=$type
			same --type=$type --ordered=1
			same --type=$type -S 512K
			inl+=(--max-outstanding=3)
			same --type=$type --ordered=1
		done
		inl=(--index1=a.index --algorithm=async-inl)
		same --type=inner
		same --type=right --ordered=2
		same -v2
	done
}

@test "index nested loops: with each engine, and past the page cache" {
	inputs 5 300 900 200
	for engine in io_uring libaio sync; do
		inl=(--index2=b.index --algorithm=async-inl "--engine=$engine")
		same --type=left
		same --type=left --direct=always
		same --type=left --direct=never
		for file in b b.index; do
			dd "of=$file" oflag=nocache conv=notrunc,fdatasync count=0 status=none
		done
		same --type=left
	done
}

@test "index nested loops: pages of an index are read together if many keys are expected" {
	seq -f '%.0f|b' 100000 >b
	"$xindex" build -t'|' -k1,1 -o b.index b
	seq -f '%.0f|a' 3 7 60000 | shuf --random-source=b >a
	for algorithm in inl async-inl; do
		"$xjoin" -t'|' --index2=b.index --algorithm=$algorithm --stats=$algorithm a b | sort >$algorithm.out
		grep -o '"index_reads": [0-9]*' $algorithm | grep -o '[0-9]*$' >$algorithm.reads
	done
	cat a | "$xjoin" -t'|' --index2=b.index --algorithm=async-inl - b | sort >pipe.out
	sed 's/$/|b/' a | sort | tee inl.expected | cmp - inl.out
	cmp inl.expected async-inl.out
	cmp inl.expected pipe.out
	[ $(($(<async-inl.reads) * 4)) -lt "$(<inl.reads)" ]
}

@test "index nested loops: empty files, and a last line without newline" {
	inputs 6 40 200 20
	inl=(--index2=b.index --algorithm=async-inl)
	: >a
	same --type=left
	printf '1|7|x' >a
	same --type=left
	truncate -s -1 b
	"$xindex" build -t'|' -k2,2 -o b.index b
	tail -n 1 b >a
	same --type=left
	: >b
	"$xindex" build -t'|' -k2,2 -o b.index b
	same --type=left
}

@test "index nested loops: the outer file may be a pipe, the inner one not" {
	inputs 7 100 300 40
	"$xjoin" -t'|' -j2 --ordered=1 a b >want
	"$xjoin" -t'|' -j2 --ordered=1 --algorithm=async-inl --index2=b.index - b < <(cat a) | cmp - want
	run -1 --separate-stderr "$xjoin" -t'|' -j2 --algorithm=inl --index2=b.index a - <b
	[[ $stderr == *"b.index: is an index of $PWD/b, not of standard input" ]]
}

@test "index nested loops: rows are seen while the outer file is not there" {
	seq 100 | sed 's/$/ inner/' >b
	"$xindex" build -k1b,1 -o b.index b
	mkfifo in out
	"$xjoin" --algorithm=async-inl --index2=b.index in b >out &
	exec 8<out 7>in
	for i in 7 99 12; do
		echo "$i outer" >&7
		read -r -t 20 line <&8
		[ "$line" = "$i outer inner" ]
	done
	exec 7>&-
	wait $!
}

@test "index nested loops: CSV with quotes, carriage returns and a header" {
	{ printf 'id,name\r\n'; printf '%s,"left ""%s"", x\ny"\r\n' 5 5 3 3 9 9 3 3 77 77; } >a
	{ printf 'a,id\r\n'; printf '"multi\nline %s","%s"\r\n' 3 3 9 9 3 3 5 5 4 4; printf 'z,77'; } >b
	"$xindex" build --csv --header -k2,2 -o b.index b
	for type in inner left; do
		"$xjoin" --csv --header -1 1 -2 2 --type=$type --ordered=1 a b >want
		"$xjoin" --csv --header -1 1 -2 2 --type=$type --ordered=1 --algorithm=async-inl \
			--index2=b.index a b | cmp - want
	done
}

@test "index nested loops: keys with types, of several fields, and binary" {
	printf ' 007 a\n8 b\n  9 c\nx d\n0 e\ny f\n' >a
	printf '  a 7\nb    8.0\nc 9\nd 9\nz 0\ne y' >b
	"$xindex" build -k2b,2n -o b.index b
	for key in 1n 1 1,2; do
		other=$([ $key = 1,2 ] && echo 2,1 || echo 2)
		"$xjoin" -1 $key -2 "$other" --ordered=1 a b >want
		"$xjoin" -1 $key -2 "$other" --ordered=1 --algorithm=async-inl --index2=b.index a b |
			cmp - want
	done
	seq -f '%05g' 1 3 3000 | tr -d '\n' >a
	seq -f '%05g' 3000 -1 1 | tr -d '\n' >b
	"$xindex" build --record-size=5 -k 2:2:u16le -o b.index b
	"$xjoin" --record-size=5 --bkey=2:2:u16le --ordered=1 a b >want
	"$xjoin" --record-size=5 --bkey=2:2:u16le --ordered=1 --algorithm=async-inl \
		--index2=b.index a b | cmp - want
}

@test "--then: further files, in any order and in that of the first" {
	inputs 8 60 90 40
	lines 9 90 40 >c
	lines 10 90 40 >d
	"$xindex" build -t'|' -k1,1 -o c.index c
	"$xindex" build -t'|' -k3,3 -o d.index d
	awk -F'|' -v OFS='|' '
	FILENAME == "a" { for (i = 1; i <= nb[$2]; i++) {
		split(b[$2, i], B)
		for (j = 1; j <= nc[B[1]]; j++) {
			split(c[B[1], j], C)
			for (k = 1; k <= nd[$4]; k++) {
				split(d[$4, k], D)
				print $2, $1, B[3], C[2], C[4], D[1]
			}
		}
	} }
	FILENAME == "b" { b[$2, ++nb[$2]] = $0 }
	FILENAME == "c" { c[$1, ++nc[$1]] = $0 }
	FILENAME == "d" { d[$3, ++nd[$3]] = $0 }' b c d a >want
	[ -s want ]
	then=(--index2=b.index "--then=c,left=2.1,key=1,index=c.index"
		"--then=d,left=1.4,key=3,index=d.index" -o "0,1.1,2.3,3.2,3.4,4.1")
	"$xjoin" -t'|' -j2 --algorithm=inl "${then[@]}" a b | cmp - want
	"$xjoin" -t'|' -j2 --algorithm=async-inl --ordered=1 "${then[@]}" a b | cmp - want
	for more in --max-outstanding=128 --max-outstanding=2 '-S 512K'; do
		# shellcheck disable=SC2086
		"$xjoin" -t'|' -j2 $more "${then[@]}" a b | sort | cmp - <(sort want)
	done
}

@test "--then: headers, and all fields without -o" {
	printf 'k,a\n1,A\n' >a
	printf 'k,b\n1,B\n' >b
	printf 'c,b\nC,B\n' >c
	"$xindex" build --csv --header -k1,1 -o b.index b
	"$xindex" build --csv --header -k2,2 -o c.index c
	run -0 "$xjoin" --csv --header --index2=b.index --then=c,left=2.2,key=2,index=c.index a b
	[ "$output" = $'k,a,b,c\n1,A,B,C' ]
}

@test "index nested loops: a refusal gives the reason, and how to make an index" {
	inputs 11 20 20 10
	run -1 --separate-stderr "$xjoin" -t'|' -j2 --algorithm=inl a b
	[[ $stderr == *"xindex build -t '|' -k 2,2 -o b.index b" ]]
	run -1 --separate-stderr "$xjoin" -t'|' -j1 --algorithm=inl --index2=b.index a b
	[[ $stderr == *"b.index: is an index of other keys"*"xindex build -t '|' -k 1,1 -o b.index b" ]]
	run -1 --separate-stderr "$xjoin" -t'|' -j2 --algorithm=inl --index2=a.index a b
	[[ $stderr == *"a.index: is an index of "*"/a, not of b" ]]
	run -1 --separate-stderr "$xjoin" -t'|' -j2 --algorithm=inl --index2=none a b
	[[ $stderr == *"none: No such file or directory; xindex build -t '|' -k 2,2 -o none b" ]]
	run -1 --separate-stderr "$xjoin" -t'|' -j2 --index2=b.index \
		--then=a,left=2.1,key=3,index=none a b
	[[ $stderr == *"none: No such file or directory; xindex build -t '|' -k 3,3 -o none a" ]]
	run -1 --separate-stderr "$xjoin" -t'|' -j2 --index2=b.index --then=a,left=2.1,key=3 a b
	[[ $stderr == *"a: has no index; xindex build -t '|' -k 3,3 -o a.index a" ]]
	"$xindex" build -t'|' -k2,2f -o folded b
	run -1 --separate-stderr "$xjoin" -t'|' -j2 -i --index2=folded --then=a,left=2.1,key=3 a b
	[[ $stderr == *"a: has no index; xindex build -t '|' -k 3,3f -o a.index a" ]]
	run -1 --separate-stderr "$xjoin" -t'|' -j2 --header --algorithm=inl --index2=b.index a b
	[[ $stderr == *"b.index: is an index of other keys"*"xindex build -t '|' --header"* ]]
	[ -z "$output" ]
	for more in --type=right --type=full --ordered=2 '-v 2' --then=c,left=4.1,key=1,index=x; do
		# shellcheck disable=SC2086
		run -1 --separate-stderr "$xjoin" -t'|' -j2 --algorithm=inl --index2=b.index $more a b
		[ -n "$stderr" ]
		[ -z "$output" ]
	done
	for bad in c c,left=1,key=1 c,left=1.1 c,key=1 c,left=1.1,key=0 c,left=1.1,key=1,x=y \
		c,left=1.1,key=1,index=x,y c,left=1.1,key=1,index=; do
		run -1 --separate-stderr "$xjoin" -t'|' -j2 --index2=b.index --then=$bad a b
		[[ $stderr == *"--then '$bad'"* || $stderr == *"field number: '0'"* ]]
	done
	run -1 --separate-stderr "$xjoin" -t'|' -j2 -o 3.1 a b
	[[ $stderr == *'invalid file number'* ]]
}

@test "index nested loops: the command that is shown makes the index, whatever names and types are" {
	local long name

	long=$(printf 'n%.0s' {1..60})
	mkdir -p "$long/$long/it's a dir"
	for name in "$long/$long/it's a dir/b" $'new\nline' -b; do
		printf 'x|7\ny|8\n' >"./$name"
		printf 'z|8\n' >a
		run -1 --separate-stderr "$xjoin" -t'|' -j2 --algorithm=inl -- a "$name"
		[[ $stderr == "xjoin: index nested loops need --index1 or --index2; xindex build "* ]]
		eval "\"$xindex\" ${stderr#*; xindex }"
		"$xjoin" -t'|' -j2 --algorithm=inl --index2="$name.index" -- a "$name" >out
		[ "$(<out)" = '8|z|y' ]
	done
	# Keys of each form: the same join with the index that the command made.
	printf 'x\0\1y\0\2' >b
	printf '\0\2' >a
	made b --record-size=2,3 --bkey=0:2:u16be,1:2:u16be --algorithm=inl
	printf '1\0A;1\0' >a
	printf 'q\0001\0a;1.0\0' >b
	made b -z -t';' -2 2n -1 2n --algorithm=inl
	printf 'x\0001\n' >a
	printf '1\0003\n' >b
	made b -t '\0' -1 2 --algorithm=inl
	printf 'k;a\n1;2\n' >a
	printf 'a;k\n2;"1"\n' >b
	made b --csv -t';' --header -2 2 --algorithm=inl
	printf ' 1 x\n' >a
	printf 'A 1\n' >b
	made b -i -2 2 --algorithm=inl
	# No command makes an index of these.
	run -1 --separate-stderr "$xjoin" --algorithm=inl a - <b
	[[ $stderr == *"need --index1 or --index2" ]]
	for more in "-t ''" '--record-size=2 --bkey=0:2:u16be,0:2:u16le'; do
		eval "run -1 --separate-stderr \"$xjoin\" $more --algorithm=inl a b"
		[[ $stderr == *"need --index1 or --index2" ]]
	done
}

@test "index options: refused with an algorithm that does not use them" {
	inputs 14 20 20 10
	for algorithm in hybrid grace shj nested merge; do
		for option in --index1=a.index --index2=b.index --max-outstanding=9 \
			--then=a,left=1.1,key=2,index=a.index; do
			run -1 "$xjoin" -t'|' -j2 --algorithm=$algorithm $option a b
			[ "$output" = "xjoin: options '${option%%=*}' and '--algorithm=$algorithm' are incompatible" ]
		done
	done
	run -1 "$xjoin" -t'|' -j2 --check-order --index2=b.index a b
	[ "$output" = "xjoin: options '--index2' and '--check-order' are incompatible" ]
	run -1 "$xjoin" -t'|' -j2 --algorithm=inl --index2=b.index --max-outstanding=9 a b
	[ "$output" = "xjoin: options '--max-outstanding' and '--algorithm=inl' are incompatible" ]
	"$xjoin" -t'|' -j2 --index2=b.index --max-outstanding=9 a b | sort |
		cmp - <("$xjoin" -t'|' -j2 a b | sort)
}

@test "auto: opens an index only to join through it, and then refuses one that cannot be used" {
	seq -f '%g|inner' 200000 >b
	seq -f '%g|other' 200000 >c
	printf '17|\n' >few
	"$xindex" build -t'|' -k1,1 -o b.index b
	"$xindex" build -t'|' -k1,1 -o c.index c
	"$xindex" build -t'|' -k2,2 -o b2.index b
	echo '200001|inner' >>b
	for index in b.index c.index b2.index none; do
		run -1 --separate-stderr "$xjoin" -t'|' --index2=$index few b
		[[ $stderr == "xjoin: $index: "* ]]
		[ "$(wc -l <<<"$stderr")" -eq 1 ]
		[ -z "$output" ]
		"$xjoin" -t'|' --index2=$index b b >out # reads both files
		[ "$(wc -l <out)" -eq 200001 ]
	done
}

@test "index nested loops: nothing that is read is written in place" {
	inputs 13 20 20 10
	cp b c
	"$xindex" build -t'|' -k2,2 -o c.index c
	for file in b b.index c c.index; do
		cp $file want
		ln $file other
		run -1 "$xjoin" -t'|' -j2 --index2=b.index --then=c,left=1.1,key=2,index=c.index \
			--algorithm=async-inl --output=$file a b
		[ "$output" = "xjoin: $file: an input cannot be written in place" ]
		cmp other want
		rm other
	done
}

@test "index nested loops: no report overwrites an index or a further file" {
	inputs 13 20 20 10
	for file in b.index c; do
		cp b c
		run -1 --separate-stderr "$xjoin" -t'|' -j2 --index2=b.index \
			--then=c,left=1.1,key=2,index=c.index --stats=$file a b
		[[ $stderr == *--stats* ]]
	done
	cmp b c
}

@test "index nested loops: an index of a file that has changed is refused" {
	inputs 12 20 20 10
	echo '1|2|3|4' >>b
	run -1 --separate-stderr "$xjoin" -t'|' -j2 --algorithm=async-inl --index2=b.index a b
	[[ $stderr == *'b.index: '*changed*'; xindex build '*' -o b.index b' ]]
	[ -z "$output" ]
}

@test "index nested loops: a change that left size and time as they were is noticed where it is met" {
	seq -f '%05g|inner' 1000 >b
	printf '00500|outer\n' >a
	"$xindex" build -t'|' -k1,1 -o b.index b
	touch -r b time
	sed -i 's/^00500/00499/' b
	touch -r time b
	for algorithm in inl async-inl; do
		run -1 --separate-stderr "$xjoin" -t'|' --algorithm=$algorithm --index2=b.index a b
		[[ $stderr == *'b.index: at offset 5988 of its source '*" is another key: build the index again; xindex build -t '|' -k 1,1 -o b.index b" ]]
		[ -z "$output" ]
	done
}

@test "--limit: no more than 2 N + 1 inner records are read" {
	seq -f '%g|inner' 5000 | sort -R >b
	seq -f '%g|outer' 5000 | sort -R >a
	"$xindex" build -t'|' -k1,1 -o b.index b
	for n in 1 2 3 4 7 8 15 16 100 1000; do
		for more in '' --ordered=1; do
			# shellcheck disable=SC2086
			"$xjoin" -t'|' --algorithm=async-inl --index2=b.index --limit=$n --stats=s $more \
				a b >out
			[ "$(wc -l <out)" -eq $n ]
			[ "$(number s inner_records)" -le $((2 * n + 1)) ]
		done
	done
}

@test "auto: takes the index for few lines, and tells both times" {
	seq -f '%g|inner' 200000 >b
	"$xindex" build -t'|' -k1,1 -o b.index b
	printf '17|\n' >few
	run -0 --separate-stderr "$xjoin" -t'|' --index2=b.index --explain few b
	[[ $stderr == *async-inl*index*hash* ]]
	run -0 --separate-stderr "$xjoin" -t'|' --index2=b.index --explain b b
	[[ $stderr != *async-inl* ]]
	[[ $stderr == *index*hash* ]]
	for algorithm in inl async-inl; do
		run -0 --separate-stderr "$xjoin" -t'|' --index2=b.index --algorithm=$algorithm --explain --details few b
		[[ $stderr == *"algorithm"*" $algorithm" ]] # and nothing of a hash join
	done
	"$xjoin" -t'|' --index2=b.index --stats=s few b >out
	grep -q '"algorithm": "async-inl"' s
	[ "$(<out)" = '17||inner' ]
	# Keys that compare as in the locale are not those of an index.
	[ "$("$xjoin" -t'|' -1 1l -2 1l --index2=b.index few b)" = '17||inner' ]
	"$xjoin" -t'|' --index2=b.index --explain --stats=plan.json b b
	fits_schema plan.json
	has_keys s index_loops
}

@test "simulated: 64 reads outstanding are more than twice as fast, and the first row as early" {
	awk 'BEGIN { for (i = 1; i <= 20000; i++) printf "%d|%0190d\n", i * 7919 % 20011, i }' >b
	awk 'BEGIN { for (i = 1; i <= 500; i++) printf "%d|\n", i * 104729 % 20011 }' >a
	"$xindex" build -t'|' -k1,1 -o b.index b
	"$xjoin" -t'|' a b | sort >want
	for run in inl async-inl again; do
		more=$([ $run = inl ] || echo --max-outstanding=64)
		# shellcheck disable=SC2086
		"$xjoin" -t'|' --algorithm="${run/again/async-inl}" $more --index2=b.index \
			--volume=sim:cheetah36es-like,files=both --timeline=t.$run --stats=s.$run a b |
			sort | cmp - want
	done
	cmp t.async-inl t.again
	[ "$(sed -n 2p t.inl)" = "$(sed -n 2p t.async-inl)" ]
	awk -F, 'FNR == 1 { n++ } { s[n] = $2 } END { exit !(s[1] > 2 * s[2]) }' t.inl t.async-inl
	[ "$(number s.async-inl batch)" -eq 64 ]
	[ "$(number s.inl batch)" -eq 1 ]
	has_keys s.inl index_loops sim
}

@test "index nested loops: blocks are read once, and neighbours together" {
	seq -f '%06g|inner' 20000 >b
	seq -f '%06g|outer' 20000 >a
	"$xindex" build -t'|' -k1,1 -o b.index b
	"$xjoin" -t'|' --algorithm=async-inl --ordered=1 --index2=b.index --stats=s \
		a b | cmp - <("$xjoin" -t"|" --ordered=1 a b)
	[ "$(number s probes)" -eq 20000 ]
	[ "$(number s inner_records)" -eq 20000 ]
	[ "$(number s inner_reads)" -lt 200 ]
	[ "$(number s inner_bytes)" -le $((2 * $(stat -c %s b))) ]
}
