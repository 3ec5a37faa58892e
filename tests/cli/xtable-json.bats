#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Lines of JSON in tables: columns of members, bad records, and a scan that gives the values back.
# shellcheck disable=SC2154 # run sets stderr and stderr_lines
. "$BATS_TEST_DIRNAME/suite.bash"

full=${SP_TEST_FULL:-}
setup()
{
	begin_test
}

# load OPTION...: loads standard input from a file.
load_lines()
{
	cat >lines && mv lines input
	"$xtable" load --overwrite --json t input "$@"
}

# refused TEXT... -- OPTION...: a load of standard input fails, and its message has all texts.
refused()
{
	local texts=()

	while [ "$1" != -- ]; do
		texts+=("$1")
		shift
	done
	shift
	cat >input
	run -2 --separate-stderr "$xtable" load --json new input "$@"
	[ -z "$output" ]
	[ "${#stderr_lines[@]}" -eq 1 ]
	for text in "${texts[@]}"; do
		[[ $stderr == *"$text"* ]] || { echo "$stderr" && return 1; }
	done
	[ ! -e new ]
}

# gives TEXT...: a scan of the table prints these lines.
gives()
{
	printf '%s\n' "$@" >expected
	"$xtable" scan t --format=json >got
	diff expected got
}

# column NAME TYPE: the table has a column of this type.
column()
{
	"$xtable" info t | grep -qE "^  $1 $2(,|$)" || { "$xtable" info t && return 1; }
}

@test "members become columns of inferred types, and come back" {
	load_lines <<-'END'
		{"id":1,"user":{"name":"Ann","tags":["x", 1]},"ok":true,"price":1.5,"day":"2024-01-02","z":null}
		{"price":1e3,"user":{"name":"Bob \"q\"\n\u00e9"},"ok":false,"id":300,"day":"2024-01-03"}
		{"id":3,"user":null,"last":"12"}
	END
	column id i16
	column user.name text
	column user.tags 'char\(8\) json'
	column ok 'text json'
	column price f64
	column day date
	column last 'char\(2\)'
	gives '{"id":1,"user.name":"Ann","user.tags":["x", 1],"ok":true,"price":1.5,"day":"2024-01-02","z":null,"last":null}' \
		'{"id":300,"user.name":"Bob \"q\"\né","user.tags":null,"ok":false,"price":1000,"day":"2024-01-03","z":null,"last":null}' \
		'{"id":3,"user.name":null,"user.tags":null,"ok":null,"price":null,"day":null,"z":null,"last":"12"}'
	[ "$("$xtable" scan t --columns id,ok --format=csv)" = $'id,ok\n1,true\n300,false\n3,' ]
	[ "$("$xtable" scan t --where "user.name = 'Ann'" --columns id)" = '{"id":1}' ]
	[ "$("$xtable" scan t --agg 'count(),avg(price),max(user.name)')" = \
		'{"count()":3,"avg(price)":500.75,"max(user.name)":"Bob \"q\"\né"}' ]
	"$xtable" check t
}

@test "random lines come back from all layouts as Python reads them" {
	needs python3
	XTABLE=$xtable python3 "$BATS_TEST_DIRNAME/xtable_json.py" "${SEED:-1}" $((full ? 100 : $(fewer 20 6)))
}

@test "a line that is not JSON is named with its byte" {
	printf '{"a":1}\n\n{"a":2\n' | refused input 'line 3, byte 7' 'a comma or }' --
	printf '{"a":1}\nnope\n' | refused input 'line 2, byte 1' 'a JSON value' --
	printf '{"a":1} {"a":2}\n' | refused input 'line 1, byte 9' 'the end of the line' --
	printf '{"a":1}\n[2]\n' | refused input 'line 2' 'an object' --
	printf '{"a":NaN}\n' | refused input 'line 1, byte 6' --
	printf '{"a":"\\ud800"}\n' | refused input 'line 1' 'UTF-8' --
	printf '{"a":"\xff"}\n' | refused input 'line 1' 'UTF-8' --
	printf '{"a":[{"\\udc00":1}]}\n' | refused input 'line 1' 'UTF-8' --
}

@test "an error after much text is in its line, in files, pipes and parts" {
	seq 300000 | awk '{ printf "{\"n\": %d, \"t\": \"text\\n%d\"}\n", $1, $1; if ($1 == 70000) print "" }' >many
	{ cat many && echo '{"n":'; } | refused input 'line 300002, byte 6' --
	{ cat many && echo '{"n": "x"}'; } | refused input 'line 300002' "'x' is not i32" -- --types n:i32
	{ cat many && echo '{"n": {"x": 1}}'; } >bad
	for n in 1 3; do
		run -2 --separate-stderr "$xtable" load --json --parallel=$n new bad
		[[ $stderr == *"line 300002: member 'n' is an object"* ]]
	done
	run -2 --separate-stderr "$xtable" load --json --decompress new <(gzip -c bad)
	[[ $stderr == *'line 300002'* ]]
	[ ! -e new ]
}

# bats test_tags=one-thread
@test "members that come late: files are read again, pipes end with advice" {
	{ seq 600000 | awk '{ print "{\"n\":" $1 % 100 "}" }' && echo '{"n":1,"m":{"k":7}}'; } >many
	"$xtable" load --json --overwrite -S 8M t many
	[ "$("$xtable" scan t --where 'm.k is not null')" = '{"n":1,"m.k":7}' ]
	run -2 --separate-stderr "$xtable" load --json -S 8M new <(cat many)
	[[ $stderr == *"line 600001: member 'm.k'"*--types* ]]
	"$xtable" load --json -S 8M new --types m.k:i32 <(cat many)
	cmp <("$xtable" scan new) <("$xtable" scan t)
	rm new
	{ head -n 600000 many && echo '{"n":"5"}'; } >texts
	run -2 --separate-stderr "$xtable" load --json -S 8M new <(cat texts)
	[[ $stderr == *"line 600001: member 'n' is a text"* ]]
	run -0 --separate-stderr "$xtable" load --json --overwrite -S 8M t texts
	[[ $stderr == *"member 'n' has texts and other values"* ]]
	[ "$("$xtable" get t 0 600000)" = $'{"n":"1"}\n{"n":"5"}' ]
}

@test "a member that is an object and something else" {
	printf '{"a":1}\n{"a":{"b":1}}\n' | refused 'line 2' "'a' is an object" 'a:text json' --
	printf '{"a":{"b":1}}\n{"a":"x"}\n' | refused 'line 2' "'a' is a text" --
	printf '{"a":{"b":1}}\n{"a":[]}\n' | refused 'line 2' "'a' is an array" --
	load_lines --types 'a:text json' <<-'END'
		{"a":{"b": 1},"c":{}}
		{"a":"x","c":null}
		{"a":null}
		{"a":5}
	END
	gives '{"a":{"b": 1}}' '{"a":"x"}' '{"a":null}' '{"a":5}'
	load_lines --types a:text <input
	gives '{"a":"{\"b\": 1}"}' '{"a":"x"}' '{"a":null}' '{"a":"5"}'
}

@test "a text in a column of numbers" {
	run -0 --separate-stderr load_lines <<<$'{"a":1}\n{"a":"12"}'
	[[ $stderr == *"'a' has texts and other values"* ]]
	gives '{"a":"1"}' '{"a":"12"}'
	load_lines --types a:i32 <input
	gives '{"a":1}' '{"a":12}'
	printf '{"a":1}\n{"a":"x"}\n' | refused 'line 2' "'x' is not i32" -- --types a:i32
	printf '{"a":1}\n{"a":true}\n' | refused 'line 2' "'true' is not i32" -- --types a:i32
}

@test "numbers keep their value" {
	load_lines <<-'END'
		{"u":18446744073709551614,"d":1.10,"f":0.1,"l":123456789012345678901234567890,"e":1e400}
		{"u":0,"d":-2.25,"f":1E-7,"l":-1,"e":2}
	END
	column u u64
	column d 'dec16\(2\)'
	column f f64
	column l 'text json'
	gives '{"u":18446744073709551614,"d":1.10,"f":0.1,"l":123456789012345678901234567890,"e":1e400}' \
		'{"u":0,"d":-2.25,"f":1e-07,"l":-1,"e":2}'
	load_lines --exact <<<$'{"a":1.0}\n{"a":2.50}'
	gives '{"a":1.0}' '{"a":2.50}'
}

@test "times keep their spelling, or are texts" {
	load_lines <<<$'{"a":"2024-01-01T10:00:00Z","b":"2024-01-01 10:00:00"}'
	column a 'char\(20\)'
	column b time
	gives "$(cat input)"
}

@test "the last of equal names counts, with one warning" {
	run -0 --separate-stderr load_lines <<-'END'
		{"a":1,"b":{"c":1,"d":2},"\u0061":5,"b":{"d":3}}
		{"a":1,"b":{"c":4},"a":null}
	END
	[ "$stderr" = "xtable: warning: input: 3 members have the path of an earlier one in the same record: the last one counts" ]
	gives '{"a":5,"b.c":null,"b.d":3}' '{"a":null,"b.c":4,"b.d":null}'
	run -0 --separate-stderr load_lines <<<'{"a.b":1,"a":{"b":2}}'
	[[ $stderr == *'1 member has the path'* ]]
	gives '{"a.b":2}'
}

# bats test_tags=one-thread
@test "names that are none of a column" {
	printf '{"":1}\n' | refused 'line 1' 'cannot be that of a column' --
	printf '{"a\\u0000":1}\n' | refused 'line 1' 'a\u0000' --
	printf '{"%0300d":1}\n' 7 | refused 'line 1' '255 bytes' --
	seq 5000 | awk '{ print "{\"a" $1 "\":1}" }' | refused 'line 4097' "'a4097'" 4096 --
	seq 4096 | awk '{ printf "%s\"a%d\":%d", NR == 1 ? "{" : ",", $1, $1 } END { print "}" }' >in
	"$xtable" load --json --overwrite t in
	cmp in <("$xtable" scan t)
	printf '{"a\\nb \\"c\\":,":1,"\\ud83d\\ude00":{"\\t":2}}\n' | load_lines
	gives '{"a\nb \"c\":,":1,"😀.\t":2}'
}

@test "CR LF, blank lines, a byte order mark, and no last newline" {
	run -0 --separate-stderr load_lines < <(printf '\xef\xbb\xbf{"a":"x"}\r\n \t\r\n\r\n {"a":"y"} \r\n{"a":"z"}')
	[ "$stderr" = 'xtable: warning: input: 2 blank lines skipped' ]
	gives '{"a":"x"}' '{"a":"y"}' '{"a":"z"}'
	printf '\n{"a":1}\n\n{"a":}\n' | refused 'line 4, byte 6' --
}

@test "an empty file, and records without members" {
	: | refused input 'is empty' --types --
	printf '{}\n{"a":{}}\n' | refused 'no record has a member' --types --
	load_lines --types a:i32 </dev/null
	[ -z "$("$xtable" scan t)" ]
	column a i32
	load_lines <<<$'{}\n{"a":"\\u0000"}\n{"a":""}'
	gives '{"a":null}' '{"a":"\u0000"}' '{"a":""}'
}

@test "depth" {
	printf '%0.s{"a":' {1..100} >in
	{ printf 1 && printf '%0.s}' {1..100} && echo; } >>in
	"$xtable" load --json --overwrite t in
	printf '{"%s":1}\n' "$(printf '%0.sa.' {1..99})a" | cmp - <("$xtable" scan t)
	{ printf '%0.s{"a":' {1..3000} && printf 1 && printf '%0.s}' {1..3000}; } | refused 'line 1' 2048 --
	{ printf '%0.s{"a":' {1..1000} && printf 1 && printf '%0.s}' {1..1000}; } | refused 'line 1' '255 bytes' --
	{ printf '{"a":' && printf '%0.s[' {1..2000} && printf '%0.s]' {1..2000} && echo '}'; } >in
	"$xtable" load --json --overwrite t in
	cmp in <("$xtable" scan t)
}

# bats test_tags=one-thread
@test "a member of several MB" {
	{ printf '{"a":"' && head -c 6000000 /dev/zero | tr '\0' x && printf '\\n"}\n{"a":"y"}\n'; } >in
	for n in 1 3; do
		"$xtable" load --json --overwrite --parallel=$n t in
		cmp in <("$xtable" scan t)
	done
}

@test "several files, and a schema" {
	echo '{"a":1,"b":{"c":"x"}}' >one
	echo '{"b":{"c":"y","d":true}}' >two
	"$xtable" load --json --overwrite t one two
	gives '{"a":1,"b.c":"x","b.d":null}' '{"a":null,"b.c":"y","b.d":true}'
	"$xtable" schema --json one two >schema
	[ "$(cat schema)" = $'a i8\nb.c char(1)\nb.d char(4) json' ]
	"$xtable" load --json --overwrite --schema schema t two one
	gives '{"a":null,"b.c":"y","b.d":true}' '{"a":1,"b.c":"x","b.d":null}'
	printf '{"a":1}\n{"a":2,"e":null}\n' | refused 'line 2' "'e' is not a column of the schema" -- --schema schema
	printf '{"a":1}\n' | refused alpha 'nearest name' -- --types alpha:i32
	printf 'a i8 not null\n' >schema
	printf '{"a":1}\n{}\n' | refused 'line 2' 'not null' -- --schema schema
	run -2 "$xtable" load --csv new --types 'c1:text json' one
	[[ $output == *'JSON lines only'* ]]
	for option in --csv --header --null=x '-t,' --record-size=4; do
		run -2 "$xtable" load --json "$option" new one
		[[ $output == *'--json does not go with'* ]]
	done
}

@test "append and update keep values of JSON whole" {
	load_lines <<<$'{"id":1,"v":[1],"t":"x"}\n{"id":2,"v":true,"t":"yy"}'
	run -0 --separate-stderr "$xtable" append t <<<$'{"id":3,"v":"text","t":null}\n\n{"t":5,"id":4,"id":5}'
	[[ $stderr == *'1 blank line skipped'*'1 member has the path'*'1 value is not a text'* ]]
	gives '{"id":1,"v":[1],"t":"x"}' '{"id":2,"v":true,"t":"yy"}' '{"id":3,"v":"text","t":null}' \
		'{"id":5,"v":null,"t":"5"}'
	for line in '{"id":1,"new":1}' '{"id":1,"new":null}' '{"id":{"x":1}}' '{"id":1000}' '{"id":' 7; do
		run -2 --separate-stderr "$xtable" append t <<<"{\"id\":9}"$'\n'"$line"
		[[ $stderr == *'line 2'* ]]
	done
	[ "$("$xtable" scan t | wc -l)" -eq 4 ]
	run -2 "$xtable" update t --set v=nix 0
	[[ $output == *'values of JSON'* ]]
	run -2 "$xtable" update t --set $'v=\'[1,\n2]\'' 0
	[[ $output == *newline* ]]
	"$xtable" update t --set "v='{\"a\": 1}',t='a,b'" 0
	printf 'id,v\n2,"[3]"\n' >from
	"$xtable" update t --by=id --from=from
	[ "$("$xtable" get t 0 1)" = $'{"id":1,"v":{"a": 1},"t":"a,b"}\n{"id":2,"v":[3],"t":"yy"}' ]
	"$xtable" convert t --overwrite --layout nsm copy
	cmp <("$xtable" scan t) <("$xtable" scan copy)
	run -2 "$xtable" convert t --overwrite copy --types 't:text json'
	[[ $output == *'not values of JSON'* ]]
}

@test "a table of CSV as JSON, and the reverse" {
	printf 'a,b,c\n1,x,2024-01-01\n2,"say ""hi""",\n' >csv
	"$xtable" load --overwrite --csv --header t csv
	gives '{"a":1,"b":"x","c":"2024-01-01"}' '{"a":2,"b":"say \"hi\"","c":null}'
	"$xtable" scan t --format=json | "$xtable" load --json --overwrite again
	cmp csv <("$xtable" scan again --format=csv)
	[ "$("$xtable" get t 1 --format=json --columns b,a)" = '{"b":"say \"hi\"","a":2}' ]
	run -2 "$xtable" scan t --columns a,b,a --format=json
	[[ $output == *"'a' is there twice"* ]]
	printf 'nan\n-inf\n1.5\n' | "$xtable" load --overwrite t --types c1:f64
	gives '{"c1":"nan"}' '{"c1":"-inf"}' '{"c1":1.5}'
	printf 'a\xe9\n' | "$xtable" load --overwrite t
	run -2 --separate-stderr "$xtable" scan t --format=json
	[[ $stderr == *'record 0'*c1*'not UTF-8'* ]]
	[ -z "$output" ]
}

@test "values do not depend on the memory, and a text among values of another kind is never missed" {
	{ seq 40000 | sed 's/.*/{"id":&,"flag":true}/'; echo '{"id":0,"flag":"yes"}'; seq 40000 | sed 's/.*/{"id":&,"flag":false}/'; } >input
	for memory in 1M 16M 1G; do
		rm -f t
		"$xtable" load t --json -S $memory input 2>err
		grep -q flag err
		[ "$("$xtable" scan t --where "flag = 'yes'" --agg 'count()' | tr -dc '0-9\n')" = 1 ]
	done
	{ seq 300000 | sed 's/.*/{"flag":true}/'; echo '{"flag":"yes"}'; } >input
	run -2 "$xtable" load new --json -S 8M - < <(cat input)
	[[ $output == *'line 300001'* ]] || { echo "$output"; false; }
}

@test "an object that is there twice loses its own members, and no others" {
	printf '{"a":{"c":1},"a.b":5,"a":{"c":2}}\n{"a":{"c":1,"d":3},"a":{"c":4}}\n' | "$xtable" load --json t - 2>err
	[ "$("$xtable" scan t --format=json)" = '{"a.c":2,"a.b":5,"a.d":null}
{"a.c":4,"a.b":null,"a.d":null}' ] || { "$xtable" scan t --format=json; false; }
	run -2 "$xtable" load --json new - < <(echo '{"a":{"":1}}')
}

@test "a null of an update is NULL" {
	printf '{"n":1,"b":true}\n{"n":2,"b":[1]}\n' | "$xtable" load --json t -
	"$xtable" update t --set "b='null'" 0
	[ "$("$xtable" scan t --where 'b is null' --columns n --format=json)" = '{"n":1}' ]
	"$xtable" update t --set "b='[null]'" 1
	[ "$("$xtable" scan t --format=json | tail -n 1)" = '{"n":2,"b":[null]}' ]
}
