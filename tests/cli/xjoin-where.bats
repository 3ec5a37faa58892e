#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# xjoin --where: the records of the result for which a condition is true, as SQL chooses them.
# shellcheck disable=SC2154 # bats sets stderr
. "$BATS_TEST_DIRNAME/suite.bash"

full=${SP_TEST_FULL:-}

setup()
{
	begin_test
	export LC_ALL=C XJOIN=$xjoin
	printf '%s\n' id,price,name 1,9.5,"\"a, b\"" 2,,c 3,20,d >a
	printf '%s\n' id,qty,name 1,5,x 1,7,y 3,1,z 4,2,w >b
}

@test "random joins have the records that SQLite chooses" {
	needs python3
	python3 "$BATS_TEST_DIRNAME/xjoin_where.py" $((full ? 1000 : 120)) "${SEED:-1}"
}

@test "large joins, by any algorithm, memory and number of threads, from files and pipes" {
	local threads algorithm memory

	seq 0 99999 | awk '{ print "k" 1000000 + $1 * 2 "," $1 % 997 }' >left
	seq 0 149999 | awk '{ print "k" 1000000 + $1 "," $1 % 991 }' >right
	"$xjoin" -t, left right | awk -F, '$2 > 500 && $2 + $3 < 900 && $1 != "k1000500"' >want
	[ "$(wc -l <want)" -gt 1000 ]
	sort want >sorted
	local condition="\"1.2\" > 500 and \"1.2\" + \"2.2\" < 900 and \"1.1\" <> 'k1000500'"
	for threads in 1 2 3 8; do
		"$xjoin" -t, --where "$condition" --algorithm=merge --parallel=$threads --stats=stats left right | cmp - want
		[ "$(value filtered stats)" = $((75000 - $(wc -l <want))) ]
		for algorithm in auto hybrid grace nested; do
			for memory in 512K 1G; do
				"$xjoin" -t, --where "$condition" --algorithm=$algorithm --parallel=$threads -S $memory \
					--stats=stats left right | sort | cmp - sorted
				[ "$(value filtered stats)" = $((75000 - $(wc -l <want))) ]
			done
		done
		"$xjoin" -t, --where "$condition" --ordered=1 --parallel=$threads -S 512K left right | cmp - want
		cat left | "$xjoin" -t, --where "$condition" --parallel=$threads -S 512K - right | sort | cmp - sorted
	done
}

# result ARGUMENT...: the records of a join of a and b, without the header, in one line.
result()
{
	"$xjoin" --csv --header --ordered=1 "$@" a b | tail -n +2 | tr '\n' ' '
}

@test "names are those of both files; the key is that of the record, and no value of a file is null" {
	[ "$(result --where 'price > 9 and qty < 6')" = '1,9.5,"a, b",5,x 3,20,d,1,z ' ]
	[ "$(result --type=left --where 'qty is null')" = '2,,c,, ' ]
	[ "$(result --type=full --where 'price is null')" = '2,,c,, 4,,,2,w ' ]
	[ "$(result --type=full --where 'id >= 3')" = '3,20,d,1,z 4,,,2,w ' ]
	[ "$(result --type=full --where '"1.id" >= 3')" = '3,20,d,1,z ' ]
	[ "$(result --type=full --where '"1.id" is null or "2.1" is null')" = '2,,c,, 4,,,2,w ' ]
	[ "$(result --where "\"1.name\" = 'a, b' and \"2.name\" > 'x'")" = '1,9.5,"a, b",7,y ' ]
	[ "$(result --suffixes=_a,_b --where "name_a like 'a%' and name_b = 'x'")" = '1,9.5,"a, b",5,x ' ]
	[ "$(result --type=anti --where "name = 'c'")" = '2,,c ' ]
	[ "$(result --type=semi --where 'id > 1')" = '3,20,d ' ]
	[ "$(result -o 1.price --where 'qty = 7')" = '9.5 ' ]
	[ "$(result -e none --type=left --where "price is null")" = '2,none,c,none,none ' ]
	[ "$(result --limit=1 --where 'qty < 2')" = '3,20,d,1,z ' ]
	[ "$(result --where 'id > 99')" = '' ]
}

@test "keys of several fields and with other names" {
	printf '%s\n' x,k,j 1,1,2 2,1,3 >a
	printf '%s\n' p,q,y 1,2,5 2,2,6 >b
	[ "$(result -1 k,j -2 p,q --type=full --where 'k = 2')" = '2,2,,6 ' ]
	[ "$(result -1 k,j -2 p,q --type=full --where 'p = 2')" = '2,2,,6 ' ]
	[ "$(result -1 k,j -2 p,q --type=full --where 'j = 3 and p is null')" = '1,3,2, ' ]
}

@test "FILE.NUMBER is a field as for -o, also if a column has the number as its name" {
	printf '%s\n' k,a,2,2024 1,x,9,5 >a
	[ "$(result -o 1.2 --where "\"1.2\" = 'x'")" = 'x x ' ]
	[ "$(result -o 1.2 --where '"1.2024" = 5 and "2" = 9')" = 'x x ' ]
}

@test "lines, a whole line as a field, NUL, empty files, a byte order mark" {
	printf '%s\n' 'a 1' 'b 2' >c
	printf '%s\n' 'a  3' 'b  4' >d
	[ "$("$xjoin" --where '"2.2" > 3' c d)" = 'b 2 4' ]
	[ "$("$xjoin" --header --where '"3" > 1' c d | tail -n 1)" = 'b 2 4' ]
	[ "$("$xjoin" -t '' --where "\"1.1\" like '%1'" c c)" = 'a 1' ]
	tr '\n' '\0' <c >z
	[ "$("$xjoin" -z --where '"1.2" > 1' z z | tr '\0' '\n')" = 'b 2 2' ]
	: >empty
	[ "$("$xjoin" --csv --header --type=left --where 'other is null and price > 10' a empty | tail -n 1)" = 3,20,d ]
	{ printf '\xef\xbb\xbf' && cat a; } >marked
	[ "$("$xjoin" --csv --header --where 'id = 3' marked b | tail -n 1)" = 3,20,d,1,z ]
}

@test "an index, and further files" {
	"$xindex" build -t, --header -k 1,1 -o b.ix b
	sed -i 's/"a, b"/ab/' a
	printf '%s\n' name,z d,8 c,9 >third
	"$xindex" build -t, --header -k 1,1 -o third.ix third
	run -0 "$xjoin" -t, --header --algorithm=async-inl --index2=b.ix --where 'qty < 6' a b
	[ "${#lines[@]}" = 2 ] || [ "${#lines[@]}" = 3 ]
	[ "${lines[-1]}" = 3,20,d,1,z ]
	run -0 "$xjoin" -t, --header --algorithm=inl --index2=b.ix --then=third,left=1.3,key=1,index=third.ix \
		--where 'z = 8 and "3.name" = '"'d'" a b
	[ "${lines[-1]}" = 3,20,d,1,z,8 ]
	run -0 "$xjoin" -t, --header --algorithm=inl --index2=b.ix --then=third,left=1.3,key=1,index=third.ix \
		--where 'z = 9' a b
	[ "${#lines[@]}" = 1 ]
}

# refused MESSAGE ARGUMENT...
refused()
{
	local message=$1

	shift
	run -1 --separate-stderr "$xjoin" "$@" --output=out a b
	[[ $stderr == *"$message"* ]] || {
		echo "$stderr"
		false
	}
	[ ! -e out ]
}

@test "what is wrong is named, with what to do" {
	local csv=(--csv --header)

	refused "several columns have the name 'name': write \"1.name\" or \"2.name\"" "${csv[@]}" --where "name = 'x'"
	refused "no column has the name 'prise'; the nearest one is 'price'" "${csv[@]}" --where 'prise > 1'
	refused "'price': to name columns, add --header, or write \"FILE.FIELD\", as \"1.2\"" -t, --where 'price > 1'
	refused "no column has the name '1.4'" "${csv[@]}" --where '"1.4" = 1'
	refused "\$3: write a field with the number of its file, \"1.3\"" "${csv[@]}" --where '$3 > 1'
	refused "--where needs a condition, such as x > 3, not 'price'" "${csv[@]}" --where price
	refused "the condition has no column: write a field in double quotes" -t, --where '1.2 > 5'
	refused "the condition has no column" "${csv[@]}" --where "'price' = 'x' or 2.1 = 3"
	refused "'and', 'or' or the end of --where is expected instead of ')'" "${csv[@]}" --where 'price > 1)'
	refused "a quote is not closed" "${csv[@]}" --where "price > 'x"
	refused "'qty' is a column of file 2, of which the result has no records" "${csv[@]}" --type=anti --where 'qty > 1'
	refused "'qty' is a column of file 2" "${csv[@]}" --type=semi --where 'qty > 1'
	refused "'price' is a column of file 1" "${csv[@]}" -v 2 --where 'price > 1'
	refused "--where: 'd' is not a number, in a record with the key '3'" "${csv[@]}" --where 'price < 15 or "1.name" > 5'
	: >b
	refused "no column has the name 'prise'; the nearest one is 'price'" "${csv[@]}" --type=anti --where 'prise > 1'
	refused "records of a fixed length have no fields for a condition" --record-size=4 --bkey=0:4 --where '"1.1" = 1'
}

@test "an error of one of many records ends a join by many threads" {
	local threads algorithm

	seq 100000 199999 | sed 's/$/,1/; 70000s/1$/one/' >left
	seq 100000 199999 | sed 's/$/,2/' >right
	for algorithm in auto merge hybrid; do
		for threads in 1 2 8; do
			run -1 --separate-stderr "$xjoin" -t, --algorithm=$algorithm --parallel=$threads \
				--where '"1.2" + "2.2" = 7' left right
			[[ $stderr == *"--where: 'one' is not a number, in a record with the key '169999'"* ]]
			[ -z "$output" ]
			[ "$("$xjoin" -t, --algorithm=$algorithm --parallel=$threads --where \
				"\"1.1\" > 169999 and \"1.2\" + \"2.2\" = 3" left right | wc -l)" = 30000 ]
		done
	done
}

@test "one carriage return belongs to the end of a record" {
	printf 'k,x\r\r\nk,x\r\nk,y\n' >left
	echo k,z >right
	"$xjoin" --csv --where "\"1.2\" = 'x'" left right | cmp - <(echo k,x,z)
	"$xjoin" --csv --where "\"2.2\" = 'x'" right left | cmp - <(echo k,z,x)
}
