#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# CSV as other programs write it: byte order marks, headers, blank lines.
# no threads
. "$BATS_TEST_DIRNAME/suite.bash"

setup()
{
	mark=$'\xef\xbb\xbf'
	needs gzip zstd
	begin_test
	printf '%s"Smith\nJohn",5\n"Doe",4\n' "$mark" >m.csv
	printf '%s"full\nname",age\n"Smith\nJohn",5\n"Doe",14\n' "$mark" >h.csv
}

# Writes a file in three parts, the first two of one byte.
trickle()
{
	head -c1 "$1"
	sleep 0.02
	tail -c+2 "$1" | head -c1
	sleep 0.02
	tail -c+3 "$1"
}

@test "xsort: a mark belongs to no field, and begins the output once" {
	printf '%s"Doe",4\n"Smith\nJohn",5\n' "$mark" >want
	gzip -k m.csv
	for key in 2,2n 1,1; do
		"$xsort" --csv -k "$key" m.csv | cmp - want
		"$xsort" --csv -k "$key" <m.csv | cmp - want
		cat m.csv | "$xsort" --csv -k "$key" | cmp - want
		trickle m.csv | "$xsort" --csv -k "$key" | cmp - want
		"$xsort" --csv -k "$key" --decompress m.csv.gz | cmp - want
		"$xsort" --csv -k "$key" --decompress <(cat m.csv.gz) | cmp - want
	done
	"$xsort" --csv -k 2,2n -o out m.csv && cmp out want
	"$xsort" --csv --limit=1 -k 2,2n m.csv | cmp - <(printf '%s"Doe",4\n' "$mark")
	"$xsort" --csv -u -k 2,2n m.csv m.csv | cmp - want
	"$xsort" --csv -c -k 2,2n want
	run -1 "$xsort" --csv -c -k 2,2n m.csv
	[[ $output == *'disorder: "Doe",4' ]]
}

@test "xsort: the first of several inputs decides about the mark" {
	printf 'b,2\n' >plain
	printf '%sa,1\n' "$mark" >a.csv
	printf '%sc,3\n' "$mark" >c.csv
	for m in '' -m; do
		"$xsort" $m --csv a.csv plain c.csv | cmp - <(printf '%sa,1\nb,2\nc,3\n' "$mark")
		"$xsort" $m --csv plain a.csv c.csv | cmp - <(printf 'a,1\nb,2\nc,3\n')
		"$xsort" $m --csv <(cat a.csv) <(cat plain) <(cat c.csv) | cmp - <(printf '%sa,1\nb,2\nc,3\n' "$mark")
		"$xsort" $m --csv --batch-size=2 a.csv plain c.csv c.csv c.csv | cmp - <(printf '%sa,1\nb,2\nc,3\nc,3\nc,3\n' "$mark")
	done
	: >none
	printf '%s' "$mark" >alone
	"$xsort" --csv none a.csv | cmp - <(printf 'a,1\n')
	"$xsort" --csv alone plain | cmp - <(printf '%sb,2\n' "$mark")
	"$xsort" --csv alone | cmp - alone
	"$xsort" --csv -m alone plain | cmp - <(printf '%sb,2\n' "$mark")
	printf '\xef\xbb' | "$xsort" --csv | cmp - <(printf '\xef\xbb\n')
	printf '\xef\xbbx,1\na,2\n' >almost
	trickle almost | "$xsort" --csv -k2,2nr | cmp - <(printf 'a,2\n\xef\xbbx,1\n')
}

@test "xsort: a mark, parts and checkpoints" {
	printf '%sx,5\n' "$mark" >cuts
	"$xsort" --csv -k 2,2n --split=cuts -o p%d m.csv
	cmp p0 <(printf '%s"Doe",4\n' "$mark")
	cmp p1 <(printf '"Smith\nJohn",5\n')
	for i in $(seq 3000); do printf '"r\n%d",%d\n' $((i * 7 % 3001)) $((i * 7 % 3001)); done >body
	{ printf '%s' "$mark"; cat body; } >big.csv
	{ printf '%s' "$mark"; "$xsort" --csv -k2,2n body; } >want
	"$xsort" --csv -k2,2n --splitters=3 big.csv >cuts
	"$xsort" --csv -k2,2n --split=cuts -o s%d big.csv
	cat s0 s1 s2 | cmp - want
	"$xsort" --csv -k2,2n --resume=ck -o big.out big.csv
	cmp big.out want
	"$xsort" --csv -k2,2n -m -o merged.out want body
	head -c3 merged.out | cmp - <(printf '%s' "$mark")
}

@test "xsort: a mark before a header, whose newline is a part of it" {
	printf '%s"full\nname",age\n"Doe",14\n"Smith\nJohn",5\n' "$mark" >want
	zstd -q h.csv
	"$xsort" --csv --header -k age:nr h.csv | cmp - want
	"$xsort" --csv --header -k age:nr <h.csv | cmp - want
	trickle h.csv | "$xsort" --csv --header -k age:nr | cmp - want
	"$xsort" --csv --header -k age:nr --decompress h.csv.zst | cmp - want
	"$xsort" --csv --header -k age:nr --decompress <h.csv.zst | cmp - want
	"$xsort" --csv --header -k $'"full\nname"' h.csv | cmp - want
	"$xsort" --csv --header -k age:nr h.csv h.csv | cmp - <("$xsort" --csv --header -k2,2nr h.csv h.csv)
	printf 'id,5" disk\n1,b\n2,a\n' | "$xsort" --csv --header -k '"5"" disk"' | cmp - <(printf 'id,5" disk\n2,a\n1,b\n')
}

@test "headers are compared by their names" {
	printf 'id,age\r\n3,1\r\n' >cr
	printf '"id","age"\n2,5\n' >quoted
	printf '%sid,age\n7,7\n' "$mark" >marked
	"$xsort" --csv --header -k age:n cr quoted marked | cmp - <(printf 'id,age\r\n3,1\r\n2,5\n7,7\n')
	"$xsort" --csv --header -k age:n quoted marked cr | cmp - <(printf '"id","age"\n3,1\r\n2,5\n7,7\n')
	"$xsort" --header -t, -k age:n marked cr | cmp - <(printf '%sid,age\n3,1\r\n7,7\n' "$mark")
	printf 'id,aged\n' >other
	printf 'id\n' >fewer
	printf 'id,a\033ge\n' >escape
	run -2 "$xsort" --csv --header marked other
	[ "$output" = "xsort: other: header differs from that of marked: column 2 is 'aged', not 'age'" ]
	run -2 "$xsort" --csv --header marked fewer
	[ "$output" = "xsort: fewer: header differs from that of marked: it has 1 columns, not 2" ]
	run -2 "$xsort" --csv --header marked escape
	[[ $output == *"column 2 is 'a?ge', not 'age'" ]]
	run -2 "$xsort" --header -t, marked other
	[[ $output == *"column 2 is 'aged', not 'age'" ]]
	printf 'a b\n' >l1
	printf 'a  c\n' >l2
	run -2 "$xsort" --header l1 l2
	[[ $output == *"column 2 is 'c', not 'b'" ]]
}

@test "xjoin: a mark belongs to no field, and the result begins with that of file 1" {
	printf '"Doe",x\n"Smith\nJohn",y\n' >p.csv
	printf '%s"Smith\nJohn",5,y\n"Doe",4,x\n' "$mark" >want
	zstd -q m.csv
	for f in m.csv '-' '<(cat m.csv)' '--decompress m.csv.zst'; do
		bash -c "'$xjoin' --csv --ordered=1 $f p.csv <m.csv" | cmp - want
	done
	"$xjoin" --csv --ordered=2 p.csv m.csv | cmp - <(printf '"Smith\nJohn",y,5\n"Doe",x,4\n')
	"$xjoin" --csv m.csv m.csv | sort | cmp - <({ printf '%s"Smith\nJohn",5,5\n' "$mark"; printf '"Doe",4,4\n'; } | sort)
	"$xjoin" --csv m.csv /dev/null | cmp - <(printf '%s' "$mark")
	"$xjoin" --csv -v1 m.csv /dev/null | cmp - m.csv
	[ -z "$("$xjoin" --csv p.csv - </dev/null)" ]
	"$xindex" build --csv -k1,1 -o i m.csv
	"$xjoin" --csv --algorithm=inl --index1=i m.csv p.csv | cmp - <(printf '%s"Doe",4,x\n"Smith\nJohn",5,y\n' "$mark")
	"$xjoin" --csv --algorithm=async-inl --index2=i --ordered=1 p.csv m.csv | cmp - <(printf '"Doe",x,4\n"Smith\nJohn",y,5\n')
}

@test "xjoin: a mark before a header, whose newline is a part of it" {
	printf 'k,w\nDoe,1\n' >p.csv
	"$xjoin" --csv --header -1 $'"full\nname"' -2 k -o 1.age,2.w h.csv p.csv | cmp - <(printf '%sage,w\n14,1\n' "$mark")
	"$xjoin" --csv --header -1 1 -2 1 -o 1.2 h.csv p.csv | cmp - <(printf '%sage\n14\n' "$mark")
	"$xjoin" --csv --header -1 k -2 $'"full\nname"' -o 2.age p.csv <(trickle h.csv) | cmp - <(printf 'age\n14\n')
}

@test "xindex: a mark belongs to no field or key" {
	"$xindex" build --csv -k1,1 -o i m.csv
	"$xindex" check i
	"$xindex" lookup i $'Smith\nJohn' | cmp - <(printf '"Smith\nJohn",5\n')
	"$xindex" lookup --offsets i $'Smith\nJohn' | cmp - <(echo 3 14)
	printf '%sDoe\r\n' "$mark" | "$xindex" lookup i --keys=- | cmp - <(printf '"Doe",4\n')
	"$xindex" build --csv --header -k age:n -o j h.csv
	"$xindex" check j
	"$xindex" lookup j 5 | cmp - <(printf '"Smith\nJohn",5\n')
}

@test "mmap-cube: a mark, and a newline in the header" {
	"$cube" create c --dims 4x4 --dtype i32
	printf '%s"x\n0",y,v\n1,2,7\n' "$mark" | "$cube" load c - --format csv
	"$cube" range c --lo 1,2 --hi 2,3 --format csv | grep -qx '1,2,7'
	run -2 bash -c "printf '\"x,y,v\n1,2,7\n' | '$cube' load c - --format csv"
	[[ $output == *"line 1: a quoted field is not closed" ]]
}

@test "xsort -u --count writes a column" {
	printf '"k",v\n"a",1\nb,2\n"a",3\n' >d.csv
	"$xsort" --csv --header -u --count -k1,1 d.csv | cmp - <(printf 'count,"k",v\n2,"a",1\n1,b,2\n')
	"$xsort" --csv --header -u --count='n, "all"' -k1,1 d.csv | cmp - <(printf '"n, ""all""","k",v\n2,"a",1\n1,b,2\n')
	"$xsort" --csv --header=2 -u --count -k1,1 d.csv | cmp - <(printf 'count,"k",v\n,"a",1\n1,"a",3\n1,b,2\n')
	"$xsort" --csv -t ';' -u --count <(printf 'x;1\nx;1\n') | cmp - <(printf '2;x;1\n')
	{ printf '%s' "$mark"; cat d.csv; } | "$xsort" --csv --header -u --count -k k |
		cmp - <(printf '%scount,"k",v\n2,"a",1\n1,b,2\n' "$mark")
	for i in $(seq 4000); do echo "\"$((i % 700))\",$i"; done >body
	"$xsort" --csv -s -k1,1 body | awk -F, '$1 != k { if (n) print n "," first; n = 0; first = $0; k = $1 } { n++ } END { print n "," first }' >want
	for o in '-S 600K' '--parallel=1' '--limit=700' '--run-size=10K --fan-in=3'; do
		# shellcheck disable=SC2086 # several options
		"$xsort" --csv -u --count -k1,1 $o -o out body
		cmp out want
	done
	"$xsort" --csv -u --count -k1,1 --resume=ck -S 600K -o out body
	cmp out want
	"$xsort" --csv -k1,1 --splitters=3 body >cuts
	"$xsort" --csv -u --count -k1,1 --split=cuts -o p%d body
	cat p0 p1 p2 | cmp - want
	run -2 "$xsort" -u --count=n body
	[ "$output" = "xsort: --count=NAME needs --csv and --header" ]
}

@test "xsort --limit=0 writes the header alone, as head -n 0" {
	printf 'k,v\na,1\n' >d.csv
	"$xsort" --csv --header --limit=0 d.csv d.csv | cmp - <(echo k,v)
	"$xsort" --csv --header -m --limit=0 -o out d.csv
	cmp out <(echo k,v)
	[ -z "$("$xsort" --limit=0 d.csv)" ]
	[ -z "$(yes | "$xsort" --limit=0)" ]
	"$xsort" --limit=0 --limit=1 d.csv | cmp - <(echo a,1)
	run -2 "$xsort" --limit=0 missing
	run -2 "$xsort" --limit=0 -c d.csv
}

@test "letters of a named key hold at both ends" {
	printf 'id,name\n1, b\n2,a\n' >b.csv
	"$xsort" --csv --header -k name:b b.csv | cmp - <(printf 'id,name\n2,a\n1, b\n')
	"$xsort" --csv --header -k name:bf b.csv | cmp - <("$xsort" --csv --header -k 2bf,2bf b.csv)
	printf 'k\tname\n1\t b\n2\ta\n' | "$xsort" --header -t $'\t' -k name:b | cmp - <(printf 'k\tname\n2\ta\n1\t b\n')
	"$xindex" build --csv --header -k name:b -o i b.csv
	"$xindex" build --csv --header -k 2b,2b -o j b.csv
	"$xindex" lookup i b | cmp - <("$xindex" lookup j b)
	"$xindex" range i | cmp - <(printf '2,a\n1, b\n')
}

@test "names come from the first input that is not empty" {
	printf 'id,name\n1,b\n2,a\n' >b.csv
	printf 'id,name\n2,a\n1,b\n' >want
	: >none
	"$xsort" --csv --header -k name /dev/null none b.csv | cmp - want
	"$xsort" --csv --header -k name - b.csv </dev/null | cmp - want
	cat b.csv | "$xsort" --csv --header -k name none - | cmp - want
	"$xsort" --csv --header -k name none <(cat b.csv) none | cmp - want
	run -2 "$xsort" --csv --header -k name none none
	[[ $output == "xsort: none: there is no header"* ]]
	run -2 "$xsort" --csv --header=1,first -k name none b.csv
	[[ $output == "xsort: none: there is no header"* ]]
	"$xjoin" --csv --header -j id none b.csv >out
	"$xjoin" --csv --header -j 1 none b.csv | cmp - out
	[ "$("$xjoin" --csv --header -a 2 -j id -o 2.name none b.csv | tail -n +2)" = $'b\na' ]
}

@test "errors of names and separators give the reason" {
	printf 'id,Name\n1,b\n' >b.csv
	run -2 "$xsort" --csv --header -k NAME b.csv
	[ "$output" = "xsort: b.csv: the header has no column 'NAME'; the nearest is 'Name'" ]
	run -2 "$xsort" --csv --header -t ';' -k Name b.csv
	[ "$output" = "xsort: b.csv: the header has no column 'Name'; it does not have the separator ';'" ]
	run -2 "$xsort" --csv --header -t $'\t' -k 2 b.csv
	[ "$output" = "xsort: b.csv: the header has 1 columns, not 2; it does not have the separator '\\t'" ]
	run -1 "$xjoin" --csv --header -t ';' -j Name b.csv b.csv
	[[ $output == *"it does not have the separator ';'" ]]
	run -1 "$xjoin" --csv --header -t ';' -j 2 b.csv b.csv
	[[ $output == *"it does not have the separator ';'" ]]
	run -2 "$xsort" --csv -k Name b.csv
	[ "$output" = "xsort: -k 'Name': to name columns, add --header" ]
	run -2 "$xindex" build --csv -o i -k Name b.csv
	[[ $output == *"-k 'Name': to name columns, add --header" ]]
	for command in "$xsort --csv -t é b.csv" "$xsort -t é b.csv" "$xjoin --csv -t é b.csv b.csv" \
		"$xindex build -t é -o i -k1 b.csv"; do
		LC_ALL=C.UTF-8 run $command
		[ "$status" != 0 ]
		[[ $output == *"one byte"* ]]
	done
}

@test "an empty TMPDIR is as none, and numbers without an order of bytes are little-endian" {
	seq 100000 | TMPDIR='' "$xsort" -n -r -S 600K | cmp - <(seq 100000 -1 1)
	printf '\1\0\0\2' | "$xsort" --record-size=2 --bkey=0:2:u16 | cmp - <(printf '\1\0\0\2')
	printf '\0\2\1\0' | "$xsort" --record-size=2 --bkey=0:2:u16 | cmp - <(printf '\1\0\0\2')
}

@test "xjoin --type=semi and anti have the columns of file 1" {
	printf 'k,a\n1,x\n2,y\n' >l
	printf 'b,k\nq,1\n' >r
	"$xjoin" --csv --header -2 2 --type=semi l r | cmp - <(printf 'k,a\n1,x\n')
	"$xjoin" --csv --header -2 2 --type=anti l r | cmp - <(printf 'k,a\n2,y\n')
	"$xjoin" --csv --header -2 2 --type=anti -o 1.2,2.1 l r | cmp - <(printf 'a,b\ny,\n')
	"$xjoin" --csv --header -2 2 --type=left l r | cmp - <(printf 'k,a,b\n1,x,q\n2,y,\n')
	"$xjoin" --csv --header -1 2 -v 2 r l | cmp - <(printf 'k,b,a\n2,,y\n')
	"$xjoin" --csv --header -2 2 --type=anti l /dev/null | cmp - l
	"$xindex" build --csv --header -k 2,2 -o i r
	"$xjoin" --csv --header -2 2 --type=semi --algorithm=inl --index2=i l r | cmp - <(printf 'k,a\n1,x\n')
}

@test "a blank line is not a record where there are several columns" {
	printf 'k,a\r\n1,x\r\n\r\n"2\n\n",y\r\n\n' >b.csv
	printf '1,v\n' >r
	run --separate-stderr "$xjoin" --csv --type=left --ordered=1 b.csv r
	[ "$output" = $'k,a\n1,x,v\n"2\n\n",y' ]
	[ "$stderr" = "xjoin: b.csv: 2 blank lines skipped" ]
	run --separate-stderr bash -c "cat b.csv | '$xjoin' --csv --header --type=full - b.csv"
	[ "$output" = $'k,a,a\n1,x,x\n"2\n\n",y,y' ]
	[ "$stderr" = $'xjoin: -: 2 blank lines skipped\nxjoin: b.csv: 2 blank lines skipped' ]
	"$xsort" --csv b.csv | wc -l | grep -qx 7
	printf 'k\n1\n\n' >one
	run --separate-stderr "$xjoin" --csv --header --ordered=1 one one
	[ "$output" = $'k\n1' ] # and a blank record, of which $() drops the end
	[ -z "$stderr" ]
	seq 9000 | awk '{ print $1 "," $1; if ($1 % 7 == 0) print "" }' >blanks
	grep . blanks >none
	"$xjoin" --csv --ordered=1 none none >want
	for o in --algorithm=grace --algorithm=nested --ordered=1 --ordered=2; do
		"$xjoin" --csv -S 1M $o blanks blanks | sort -n | cmp - want
	done
	"$cube" create c --dims 4x4 --dtype i32
	run -0 --separate-stderr bash -c "printf '1,2,3\n\n2,2,2\n' | '$cube' load c - --format csv"
	[ "$stderr" = "mmap-cube: -: 1 blank line skipped" ]
}

@test "xjoin --then by name" {
	printf 'id,day,land\n1,mo,at\n2,tu,de\n' >a
	printf 'n,key\nann,2\nbob,1\n' >b
	printf '%s"the\nname",code,"x, y"\nAustria,at,7\nGermany,de,8\n' "$mark" >c
	printf 'no,what\n7,seven\n8,eight\n' >d
	"$xindex" build --csv --header -k key -o bi b
	"$xindex" build --csv --header -k code -o ci c
	"$xindex" build --csv --header -k no -o di d
	run -0 "$xjoin" --csv --header -1 id -2 key --index2=bi --ordered=1 --then=c,left=1.land,key=code,index=ci \
		--then='d,left=3."x, y",key=no,index=di' -o $'1.day,2.n,3."the\nname",4.what' a b
	[ "$output" = $'day,n,"the\nname",what\nmo,bob,Austria,seven\ntu,ann,Germany,eight' ]
	"$xjoin" --csv --header -1 1 -2 2 --index2=bi --ordered=1 --then=c,left=1.3,key=2,index=ci -o 1.2,3.1 a b >want
	"$xjoin" --csv --header -1 1 -2 2 --index2=bi --ordered=1 --then=c,left=1.land,key=2,index=ci -o 1.2,3.1 a b | cmp - want
	"$xjoin" --csv --header -1 1 -2 2 --index2=bi --ordered=1 --then=c,left=1.3,key=code,index=ci -o 1.2,3.1 a b | cmp - want
	run -1 "$xjoin" --csv --header -1 id -2 key --index2=bi --then=c,left=1.lnd,key=code,index=ci a b
	[ "$output" = "xjoin: a: the header has no column 'lnd'; the nearest is 'land'" ]
	run -1 "$xjoin" --csv --header -1 id -2 key --index2=bi --then=c,left=1.land,key=cod,index=ci a b
	[ "$output" = "xjoin: c: the header has no column 'cod'; the nearest is 'code'" ]
	run -1 "$xjoin" --csv --header -1 id -2 key --index2=bi --then=c,left=1.land,key=code,index=ci -o 4.x a b
	[ "$output" = "xjoin: there is no file 4: 4.x" ]
	run -1 "$xjoin" --csv -1 1 -2 2 --index2=bi --then=c,left=1.land,key=code,index=ci a b
	[[ $output == "xjoin: invalid field number: 'land'; to name columns, add --header" ]]
}
