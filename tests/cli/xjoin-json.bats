#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# xjoin --json: joins of lines of JSON by values at paths, as the json module of Python finds them.
# shellcheck disable=SC2154 # bats sets stderr
. "$BATS_TEST_DIRNAME/suite.bash"

setup()
{
	begin_test
	export XJOIN=$xjoin
}

@test "random joins have the lines that Python makes" {
	needs python3
	python3 "$BATS_TEST_DIRNAME/xjoin_json.py" 120 "${SEED:-1}"
}

# bats test_tags=slow
@test "many random joins have the lines that Python makes" {
	needs python3
	python3 "$BATS_TEST_DIRNAME/xjoin_json.py" $((${SP_TEST_FULL:-0} ? 4000 : 500)) "${SEED:-2}"
}

# files N: makes left and right, and want, the lines of their join; a tenth of the keys are null.
files()
{
	seq "$1" | awk '{ printf "{\"v\":%d,\"id\":%s}\n", $1, $1 % 10 ? $1 * 2 : "null" }' >left
	seq $((3 * $1 / 2)) | awk '{ printf "{\"id\":%s,\"w\":\"%d\"}\n", $1 % 10 ? $1 ".0e0" : "null", $1 % 991 }' >right
	seq "$1" | awk -v n="$1" '$1 % 10 && $1 * 2 % 10 && $1 * 4 <= 3 * n { printf "{\"v\":%d,\"id\":%d,\"w\":\"%d\"}\n", $1, $1 * 2, $1 * 2 % 991 }' >want
}

@test "large joins, by any algorithm, memory and number of threads, from files and pipes" {
	local threads algorithm memory

	files 60000
	[ "$(wc -l <want)" -gt 20000 ]
	sort want >sorted
	for threads in $(few 1 2 3 8); do
		for algorithm in auto hybrid grace shj nested; do
			for memory in 512K 1G; do
				"$xjoin" --json -j .id --algorithm=$algorithm --parallel="$threads" -S $memory left right |
					sort | cmp - sorted
			done
		done
		"$xjoin" --json -j .id --ordered=1 --parallel="$threads" -S 512K left right | cmp - want
		"$xjoin" --json -j .id --ordered=1 --parallel="$threads" left right | cmp - want
		cat left | "$xjoin" --json -j .id --parallel="$threads" -S 512K - right | sort | cmp - sorted
		cat right | "$xjoin" --json -j .id --parallel="$threads" left - | sort | cmp - sorted
	done
	"$xjoin" --json -j .id --limit=100 left right >some
	[ "$(wc -l <some)" -eq 100 ]
	[ -z "$(sort some | comm -23 - sorted)" ]
}

@test "nulls have no partner, however many there are" {
	seq 30000 | awk '{ printf "{\"id\":null,\"v\":%d}\n", $1 }' >left
	seq 30000 | awk '{ printf "{\"v\":%d}\n", $1 }' >right
	for memory in 256K 1G; do
		[ -z "$("$xjoin" --json -j .id -S $memory left right)" ]
		"$xjoin" --json -j .id --type=full -S $memory left right | sort | cmp - <(sort left right)
		"$xjoin" --json -j .id --type=anti -S $memory left right | sort | cmp - <(sort left)
	done
}

# joined A B ARGUMENT...: the result for two files of a line each.
joined()
{
	printf '%s\n' "$1" >a
	printf '%s\n' "$2" >b
	"$xjoin" --json "${@:3}" a b
}

@test "keys are equal if their values are" {
	local pair

	for pair in '1 1.0' '1 1e0' '1 10e-1' '0 -0' '123456789012345678901 1234567890123456789010e-1' 'true true' \
		'"é" "\u00e9"' '"😀" "\ud83d\ude00"' '[1,"a"] [1.0,"\u0061"]' '{"a":1,"b":null} {"b":null,"a":1.0}' \
		'"" ""' '[] []' '{"a":2,"a":1} {"a":1}' '[null] [null]'; do
		[ "$(joined "{\"k\":${pair% *}}" "{\"k\":${pair#* }}" -j .k)" = "{\"k\":${pair% *}}" ]
	done
	for pair in '1 "1"' '1 true' 'null null' '[] {}' '"a" "A"' '1 1.0000000000000000000001' '"" null' 'false 0' '[1] 1'; do
		[ -z "$(joined "{\"k\":${pair% *}}" "{\"k\":${pair#* }}" -j .k)" ]
	done
	[ -z "$(joined '{}' '{}' -j .k)" ]
	[ -z "$(joined '{"a":1,"b":null}' '{"a":1,"b":null}' -j .a,.b)" ]
	[ "$(joined '{"a":1,"b":{"c":[5]}}' '{"b":5,"a":1}' -1 '.a,.b.c[0]' -2 .a,.b)" = '{"a":1,"b":{"c":[5]},"b_2":5}' ]
	[ "$(joined '{"odd, name":1}' '{"x:y":1}' -1 '."odd, name"' -2 '."x:y"')" = '{"odd, name":1,"x:y":1}' ]
}

@test "a pair is one object without a loss" {
	[ "$(joined '{"id":1,"a":2}' '{"id":1.0,"a":3,"b":4}' -j .id)" = '{"id":1,"a":2,"a_2":3,"b":4}' ]
	[ "$(joined '{"user":{"id":1},"id":2}' '{"id":1}' -1 .user.id -2 .id)" = '{"user":{"id":1},"id":2,"id_2":1}' ]
	[ "$(joined ' { "id": 1 , "a": 1.50 } ' '{"b": "\u00e9", "id" : 1, "c":[ 1 ]}' -j .id)" = '{ "id": 1 , "a": 1.50,"b": "\u00e9", "c":[ 1 ]}' ]
	[ "$(joined '{"id":1}' '{"id":1}' -j .id)" = '{"id":1}' ]
	[ "$(joined '{"id":1}' '{"\u0069d":1,"x":2}' -j .id)" = '{"id":1,"x":2}' ]
	[ "$(joined '{}' '{}' -j .)" = '{}' ]
	# Names that are there already.
	[ "$(joined '{"k":1,"a":2,"a_2":3}' '{"k":1,"a":4}' -j .k)" = '{"k":1,"a":2,"a_2":3,"a_2_2":4}' ]
	[ "$(joined '{"k":1,"a":2,"a_2":3}' '{"k":1,"a":4,"a_2":5}' -j .k)" = '{"k":1,"a":2,"a_2":3,"a_2_2":4,"a_2_2_2":5}' ]
	[ "$(joined '{"k":1,"a":2}' '{"k":1,"\u0061":4,"a_2":5}' -j .k)" = '{"k":1,"a":2,"\u0061_2_2":4,"a_2":5}' ]
	# A name twice in an object: the last member is the key, and all stay.
	[ "$(joined '{"k":0,"a":1,"k":1}' '{"k":1,"a":2,"a":3}' -j .k)" = '{"k":0,"a":1,"k":1,"a_2":2,"a_2":3}' ]
	[ -z "$(joined '{"k":1,"k":0}' '{"k":1}' -j .k)" ]
}

@test "objects with many members are merged in time" {
	local n=40000 side

	[ -z "${SP_TEST_VARIANT:-}" ] || n=4000
	for side in a b; do
		seq $n | awk -v side=$side 'BEGIN { printf "{\"id\":1" } { printf ",\"%s%d\":%d", $1 % 2 ? side : "m", $1, $1 } END { print "}" }' >$side
	done
	timeout 60 "$xjoin" --json -j .id a b | tr , '\n' >members
	[ "$(grep -c '_2":' members)" -eq $((n / 2)) ]
	[ "$(wc -l <members)" -eq $((2 * n + 1)) ]
}

@test "names with many suffixes, in time" {
	local n=2000 side

	needs python3
	[ -z "${SP_TEST_VARIANT:-}" ] || n=300
	for side in a b; do
		awk -v n=$n 'BEGIN { printf "{\"id\":1"; for (i = 0; i < n; i++) { printf ",\"x%s\":%d", s, i; s = s "_2" } print "}" }' >$side
	done
	# One long name, of which each beginning could be shared, and a name with escapes.
	awk -v n=$n 'BEGIN { printf "{\"id\":2,\"\":1,\""; for (i = 0; i < 50 * n; i++) printf "_2"; print "\":7,\"y_\\u0032\":3}" }' >>a
	echo '{"id":2,"":2,"\u0079":4,"\u0079_2":5}' >>b
	timeout 60 "$xjoin" --json -j .id --ordered=1 a b >got
	python3 - "$n" <<'END'
import json, sys

n = int(sys.argv[1])
one, two = (json.loads(line, object_pairs_hook=list) for line in open("got"))
names = ["x" + "_2" * i for i in range(n)]
# Each number of suffixes below n makes a name that is there.
assert one == [("id", 1), *zip(names, range(n)), *((m + "_2" * n, i) for i, m in enumerate(names))]
names = ["", "_2" * 50 * n, "y_2"]
# y is not shared, "" and y_2 are, and neither "_2" nor y_2_2 is there.
assert [m for m, _ in two] == ["id", *names, "_2", "y", "y_2_2"], two
END
}

@test "objects with more names than the table of a thread" {
	local n=300000 memory

	needs jq
	[ -z "${SP_TEST_VARIANT:-}" ] || n=140000
	seq $n | awk '{ printf "%s\"%x\":1", (NR > 1 ? "," : "{\"id\":1,"), $1 } END { print "}" }' >a
	seq $n | awk '{ printf "%s\"%x\":2", (NR > 1 ? "," : "{\"id\":1,"), $1 * 2 } END { print "}" }' >b
	"$xjoin" --json -j .id -S 8M --parallel=1 --stats=r.json a b | tr , '\n' >members
	[ "$(grep -c '_2":2' members)" -eq $((n / 2)) ]
	[ "$(grep -c '":2' members)" -eq $n ]
	[ "$(wc -l <members)" -eq $((2 * n + 1)) ]
	[ -n "${SP_TEST_VARIANT:-}" ] || jq -e '.memory.peak_bytes < 24 * 1024 * 1024' r.json
}

@test "--nested takes any values, and null for no partner" {
	[ "$(joined '[1]' ' [1.0] ' -j . --nested)" = '{"left":[1],"right":[1.0]}' ]
	[ "$(joined '{"a":1}' '5' -j .a --nested='x,é"' --type=full | sort)" = '{"x":null,"é\"":5}
{"x":{"a":1},"é\"":null}' ]
	run -1 joined 1 1 -j . --nested=a
	[ "$output" = "xjoin: --nested needs two names separated by a comma, not 'a'" ]
	run -1 joined 1 1 -j . --nested=a,a
	[ "$output" = "xjoin: --nested needs two different names, not 'a,a'" ]
	run -1 joined 1 1 -j . --nested=$'\xff,b'
	[[ $output == *'name 1 is not UTF-8'* ]]
	run -1 joined 1 1 -j . --nested --type=semi
	[[ $output == *'--nested needs pairs'* ]]
	run -1 "$xjoin" --nested a b
	[ "$output" = 'xjoin: --nested needs --json' ]
}

# refused MESSAGE ARGUMENT...: the join of a and b ends with this message and no output.
refused()
{
	run -1 --separate-stderr "$xjoin" --json -j .id "${@:2}" --output=result a b
	[ -z "$output" ]
	[ "$stderr" = "xjoin: $1" ] || { echo "$stderr"; return 1; }
	[ ! -e result ]
}

@test "--where names a member by the number of its file and its path" {
	local condition message

	printf '%s\n' '{"id":1,"x":5,"s":"h\u00e9","u":{"v":[1,2]}}' '{"id":2,"x":null,"s":""}' '{"id":3}' >a
	printf '%s\n' '{"id":1.0,"x":50,"e5":1}' '{"id":2,"x":6}' '{"id":4,"x":9}' >b
	# chosen CONDITION OPTION...: the ids of the records.
	chosen() { "$xjoin" --json -j .id --where "$1" "${@:2}" a b | sed 's/.*"id":\([0-9]*\).*/\1/' | sort | tr '\n' ' '; }
	[ "$(chosen '1.x > 4')" = '1 ' ]
	[ "$(chosen '1.x is null')" = '2 ' ]
	[ "$(chosen '1.s is null and 2.x > 5')" = '2 ' ]
	[ "$(chosen "1.s = 'hé'")" = '1 ' ]
	[ "$(chosen '"1.x" < "2.x"')" = '1 ' ]
	[ "$(chosen '1.u.v[1] = 2 and 1.u."v"[0] = 1')" = '1 ' ]
	[ "$(chosen '1.x < 1.e5')" = '1 ' ]
	[ "$(chosen '"2.e5" = 1')" = '1 ' ]
	[ "$(chosen '.id >= 2' --type=full)" = '2 3 4 ' ]
	[ "$(chosen '2.x is null' --type=left)" = '3 ' ]
	[ "$(chosen '.x is null' --type=anti)" = '3 ' ]
	[ "$(chosen '.x is null' --type=semi)" = '2 ' ]
	[ "$(chosen '.id > 0' --limit=1 --type=full | wc -w)" -eq 1 ]
	while IFS='|' read -r condition message; do
		run -1 --separate-stderr "$xjoin" --json -j .id --where "$condition" a b
		[ -z "$output" ]
		[ "$stderr" = "xjoin: --where: $message" ] || { echo "$condition: $stderr"; false; }
	done <<'END'
.x > 1|'.x' is not a key: write the number of its file before it, as in 1.x
x = 1|'x': a member is named by the number of its file and its path, such as 1.user.id
3.x = 1|'3.x': a member is named by the number of its file and its path, such as 1.user.id
$1 = 2|$1: a member is named by the number of its file and its path, such as 1.user.id
1 = 1|the condition has no member: name one by the number of its file and its path, such as 1.user.id
1.u > 3|'{"v":[1,2]}' is not a number, in a record with the key '1'
END
	run -1 "$xjoin" --json -j .id --type=anti --where '2.x = 1' a b
	[ "$output" = "xjoin: --where: '2.x' is a column of file 2, of which the result has no records" ]
	printf '{"id":1,"x":"\xff"}\n' >b
	refused "b: byte 14 of a record is not JSON: expected a text of valid characters (UTF-8); --strict names the line; the record begins with '{\"id\":1,\"x\":\"\\377\"}'" \
		--where='2.x is null'
}

@test "-o chooses members, as an object or as CSV" {
	printf '%s\n' '{"id":1,"x":1.50,"s":"h\u00e9\n","u":{"v":[1, 2]}}' '{"id":2,"x":null,"s":""}' '3' >a
	printf '%s\n' '{"id":1.0,"x":"a,\"b\"","0":true}' '{"id":4,"x":9}' >b
	"$xjoin" --json -j .id -o 0,1.x,2.x,1.u.v,1.u.v[1],2.0,1.s -a1 -a2 --ordered=1 a b >got
	cmp - got <<'END'
{"id":1,"x":1.50,"x_2":"a,\"b\"","u.v":[1, 2],"u.v[1]":2,"0":true,"s":"h\u00e9\n"}
{"id":2,"x":null,"x_2":null,"u.v":null,"u.v[1]":null,"0":null,"s":""}
{"id":null,"x":null,"x_2":null,"u.v":null,"u.v[1]":null,"0":null,"s":null}
{"id":4,"x":null,"x_2":9,"u.v":null,"u.v[1]":null,"0":null,"s":null}
END
	"$xjoin" --json -j .id -o '0 1.x 2.x 1.u.v 2.0 1.s 1.' --format=csv -a1 -a2 --ordered=1 a b >got
	cmp - got <<'END'
id,x,x_2,u.v,0,s,left
1,1.50,"a,""b""","[1, 2]",true,"hé
","{""id"":1,""x"":1.50,""s"":""h\u00e9\n"",""u"":{""v"":[1, 2]}}"
2,,,,,,"{""id"":2,""x"":null,""s"":""""}"
,,,,,,3
4,,9,,,,
END
	# An empty field alone is not an empty line, and a result without records has a header.
	"$xjoin" --json -j .id -o 1.u --format=csv --type=anti a b | cmp - <(printf 'u\n""\n""\n')
	[ "$("$xjoin" --json -j .id -o 1.u --format=csv a /dev/null)" = u ]
	[ "$("$xjoin" --json -j .id -o 1.u --format=csv --limit=0 a b)" = u ]
	[ -z "$("$xjoin" --json -j .id -o 1.u a /dev/null)" ]
	refused "two columns of the result are 'x' of file 1" -o 1.x,1.x
	refused "two columns of the result have the name 'x_2': leave one of them out" -o 1.x,2.x,1.x_2
	refused "invalid file number in field spec: '3.x'" -o 3.x
	refused "'..x' is not a path to a value, such as .user.id, .a[0] or .\"odd name\"" -o 1..x
	refused "--format=csv needs the columns of the result, such as -o 1.user.id,2.name" --format=csv
	refused "options '--nested' and '-o' are incompatible" --nested -o 1.x
	refused "options '--nested' and '--format=csv' are incompatible" --nested --format=csv
	printf '{"id":1,"x":"\xff"}\n' >b
	refused "b: byte 14 of a record is not JSON: expected a text of valid characters (UTF-8); --strict names the line; the record begins with '{\"id\":1,\"x\":\"\\377\"}'" \
		-o 2.x
}

@test "--format=json writes a join of CSV or of lines as objects" {
	printf '\xef\xbb\xbfid,n,"na ""me"\n01,05,"a, ""b""\n"\n2,,x\n' >a
	printf 'id,n\n01,7\n3,é\n' >b
	"$xjoin" --csv --header --format=json --suffixes -a1 -a2 --ordered=1 a b >got
	cmp - got <<'END'
{"id":"01","n_1":"05","na \"me":"a, \"b\"\n","n_2":"7"}
{"id":"2","n_1":null,"na \"me":"x","n_2":null}
{"id":"3","n_1":null,"na \"me":null,"n_2":"é"}
END
	"$xjoin" --csv --header --format=json -j id:n -o 0,2.n -a1 -e '?' --ordered=1 a b >got
	cmp - got <<'END'
{"id":"01","n":"7"}
{"id":2,"n":"?"}
END
	"$xjoin" --csv --header --format=json --type=anti a b | cmp - <(echo '{"id":"2","n":null,"na \"me":"x"}')
	[ -z "$("$xjoin" --csv --header --format=json a /dev/null)" ]
	printf 'id  x\n1  2\n' >lines
	printf 'id y\n1 4\n' >others
	for algorithm in auto merge hybrid; do
		[ "$("$xjoin" --header --format=json --algorithm=$algorithm lines others)" = '{"id":"1","x":"2","y":"4"}' ]
	done
	# And back, and there again.
	"$xjoin" --json -j .id -o 0,1.x,2.y --format=csv <("$xjoin" --header --format=json lines others) \
		<(echo '{"id":"1","y":null}') | cmp - <(printf 'id,x,y\n1,2,\n')
	# failed MESSAGE ARGUMENT...
	failed() { run -1 "$xjoin" "${@:2}"; [ "$output" = "xjoin: $1" ] || { echo "$output"; return 1; }; }
	failed 'two columns of the result have the name n, so an object would have it twice: use --suffixes, or -o for other columns' \
		--csv --header --format=json a b
	failed '--format=json needs the names of members: --header, or --json' --csv --format=json a b
	failed '--format=csv needs --csv or --json' --format=csv a b
	failed "options '--format=json' and '-z' are incompatible" --header -z --format=json a b
	failed "options '--format' and '--record-size' are incompatible" --record-size=4 --format=json a b
	printf 'id x\n1 2 3\n' >lines
	failed 'lines: a record has 3 fields, the header 2' --header --format=json lines others
	printf 'id x\n1 \xff\n' >lines
	failed "the value '\\377' is not UTF-8, so JSON cannot have it; leave out --format=json" --header --format=json lines others
}

@test "lines of one file are as they were read" {
	printf '%s\r\n' ' {"id":1, "a":[ ] }' 5 '{"id":2}' >a
	printf '{"id":1}\n' >b
	"$xjoin" --json -j .id --type=semi a b | cmp - <(head -n 1 a)
	"$xjoin" --json -j .id --type=anti a b | cmp - <(tail -n 2 a)
	sed -i 2d a
	"$xjoin" --json -j .id --ordered=1 --type=left a b | cmp - <(printf '{"id":1, "a":[ ]}\n{"id":2}\r\n')
}

@test "a line that is not JSON is an error with its place, from files and pipes, by any threads" {
	local threads

	seq 20000 | sed 's/.*/{"id":&}/' >a
	cp a b
	sed -i '15001s/.*/{"id":1,}/' b
	for threads in 1 2 3 8; do
		refused 'b: line 15001, byte 9: not JSON: expected a name in quotes' --parallel=$threads
		refused 'b: line 15001, byte 9: not JSON: expected a name in quotes' --parallel=$threads -S 256K --build=1
		run -1 bash -c "cat b | '$xjoin' --json -j .id --parallel=$threads --output=result - a"
		[ "$output" = 'xjoin: -: line 15001, byte 9: not JSON: expected a name in quotes' ]
		run -1 bash -c "cat b | '$xjoin' --json -j .id --parallel=$threads --output=result a -"
		[ "$output" = 'xjoin: -: line 15001, byte 9: not JSON: expected a name in quotes' ]
		[ ! -e result ]
	done
	echo '{"id":1}' >a
	printf '{"id":1}\n\n' >b
	refused 'b: line 2, byte 1: not JSON: expected a JSON value'
	run -1 --separate-stderr "$xjoin" --json -j .id a b
	[ -z "$output" ]
	printf '{"id":1}\n[1]\n' >b
	refused 'b: line 2, byte 1: not an object, and only objects can be merged; --nested takes any value'
	printf '{"id":"\xff"}\n' >b
	refused 'b: line 1, byte 8: not JSON: expected a text of valid characters (UTF-8)'
	printf '{"id":1,"a":"\xff"}\n' >b
	"$xjoin" --json -j .id a b | cmp - b
	refused 'b: line 1, byte 14: not JSON: expected a text of valid characters (UTF-8)' --strict
	printf '{"id":1} x' >b
	refused 'b: line 1, byte 10: not JSON: expected the end of the line'
	awk 'BEGIN { for (i = 0; i < 3000; i++) printf "["; print "" }' >b
	refused 'b: line 1, byte 2049: not JSON: expected a value that is not inside 2048 arrays and objects' --nested
}

@test "deep, long and strange lines" {
	{
		printf '{"id":'
		awk 'BEGIN { for (i = 0; i < 2047; i++) printf "["; for (i = 0; i < 2047; i++) printf "]" }'
		echo '}'
	} >a
	cp a b
	"$xjoin" --json -j .id a b | cmp - <(tr -d '\n' <a; echo)
	# A mark, no newline at the end, and no lines at all.
	printf '\xef\xbb\xbf{"id":1}' >a
	printf '\xef\xbb\xbf{"id":1,"b":2}' >b
	"$xjoin" --json -j .id a b | cmp - <(echo '{"id":1,"b":2}')
	: >b
	[ -z "$("$xjoin" --json -j .id a b)" ]
	[ "$("$xjoin" --json -j .id -a1 a b)" = '{"id":1}' ]
	[ "$("$xjoin" --json -j .id -a2 b a)" = '{"id":1}' ]
	printf '{"id":"\\u0000"}\n{"id":""}\n' >a
	printf '{"id":"\\u0000","b":1}\n' >b
	[ "$("$xjoin" --json -j .id a b)" = '{"id":"\u0000","b":1}' ]
}

@test "keys of several MB that differ in the last byte" {
	[ "${SP_TEST_VARIANT:-}" != tsan ] || skip "ThreadSanitizer takes memory that one thread returns and another one gets for shared"
	{ printf '{"id":"' && head -c 6000000 /dev/zero | tr '\0' x && echo '","a":1}'; } >a
	{ printf '{"b":2,"id":"' && head -c 6000000 /dev/zero | tr '\0' x && echo '"}'; } >b
	{ printf '{"id":"' && head -c 5999999 /dev/zero | tr '\0' x && echo 'y"}'; } >>b
	for memory in 1M 1G; do
		"$xjoin" --json -j .id -S $memory a b | cmp - <(sed 's/}/,"b":2}/' a)
	done
}

@test "options that do not go with --json have one message" {
	local option

	echo '{"id":1}' | tee a >b
	for option in --csv --header -z -i '-t,' '-e x' '-o auto' --record-size=4 \
		--bkey=0:4; do
		# shellcheck disable=SC2086 # an option with its argument
		run -1 --separate-stderr "$xjoin" --json -j .id $option a b
		[ -z "$output" ]
		[[ $stderr == 'xjoin: options '*incompatible && $stderr == *--json* ]] || { echo "$option: $stderr"; false; }
	done
	for option in merge 'leave out --algorithm=merge, since' inl 'leave out --algorithm=inl, and' async-inl 'leave out --algorithm=async-inl, and'; do
		[[ $option != leave* ]] || [[ $stderr == "xjoin: --json: "*"$option"* && -z $output ]]
		[[ $option == leave* ]] || run -1 --separate-stderr "$xjoin" --json -j .id --algorithm=$option a b
	done
	refused "--json: a merge compares keys as they are written, and equal values of JSON can be written in several ways, as 1 and 1.0: leave out --check-order, since other algorithms need no order" --check-order
	refused '--json: joins of JSON do not use an index: leave out --index2, and both files are read' --index2=a
	refused "--json: --then joins through an index, which joins of JSON do not use: write the result of one join to the next one, as in 'xjoin --json ... FILE1 FILE2 | xjoin --json ... - FILE3'" \
		--then=a,left=1.1,key=1
	for option in '' '-j 1' '-j id' '-1 .id'; do
		# shellcheck disable=SC2086 # an option with its argument
		run -1 "$xjoin" --json $option a b
		[ "$output" = 'xjoin: with --json the key is a path, such as -j .user.id' ]
	done
	run -1 "$xjoin" --json -1 .id -2 .id,.x a b
	[ "$output" = 'xjoin: keys have different numbers of paths: 1, 2' ]
	run -1 "$xjoin" --json -j .id -1 .x a b
	[ "$output" = 'xjoin: incompatible join fields .id, .x' ]
	run -1 "$xjoin" --json -j .id:n a b
	[ "$output" = "xjoin: a path of a join has no letters: '.id:n'" ]
	run -1 "$xjoin" --json -j ..id a b
	[[ $output == *"'..id' is not a path to a value"* ]]
	run -1 "$xjoin" --strict a b
	[ "$output" = 'xjoin: --strict needs --json' ]
	run -1 "$xjoin" -j .id a b
	[ "$output" = "xjoin: a path needs --json: '.id'" ]
}

@test "the report has the paths" {
	needs jq
	echo '{"id":1,"a":2}' >a
	"$xjoin" --json -1 .id,.a -2 '."id",.a' --stats=r.json a a >got
	[ "$(jq -c '[.config.paths_1, .config.paths_2, .config.key_1, .config.format]' r.json)" = '[".id,.a",".\"id\",.a",[],"line"]' ]
}

@test "spindle_io.join() takes the options" {
	needs python3
	[ -e "$build/python/.done" ] || skip "the Python package has not been built"
	echo '{"u":{"id":1}}' >a
	echo '{"id":1,"b":2}' >b
	PYTHONPATH=$build/python python3 - <<'END'
import spindle_io as sp

keys = dict(json=True, left_keys=".u.id", right_keys=".id")
sp.join("a", "b", "merged", **keys)
assert open("merged").read() == '{"u":{"id":1},"id":1,"b":2}\n'
sp.join("a", "b", "nested", nested=("x", "y"), **keys)
assert open("nested").read() == '{"x":{"u":{"id":1}},"y":{"id":1,"b":2}}\n'
sp.join("a", "b", "chosen", columns=["1.u", '2."b"', '2."q\\",",2.0'], **keys)
assert open("chosen").read() == '{"u":{"id":1},"b":2,"q\\",":null,"0":null}\n', open("chosen").read()
sp.join("a", "b", "chosen", columns="0,2.b", format="csv", **keys)
assert open("chosen").read() == "u.id,b\n1,2\n"
open("t", "w").write("id,n\n7,x\n")
sp.join("t", "t", "chosen", csv=True, header=True, keys="id:n", columns="0,1.n", format="json")
assert open("chosen").read() == '{"id":7,"n":"x"}\n'
for wrong in dict(csv=True), dict(keys=".id"), dict(nested=("a",)), dict(columns="1..a"), dict(format="csv"):
    try:
        sp.join("a", "b", "wrong", **{**keys, **wrong})
    except ValueError:
        continue
    raise AssertionError(wrong)
try:
    sp.join_blocks([b'{"id":1}\n'], [b'{"id":1}\n'], "wrong", ["--json", "-j", ".id"])
except Exception as e:
    assert "JSON lines" in str(e), e
else:
    raise AssertionError
END
}
