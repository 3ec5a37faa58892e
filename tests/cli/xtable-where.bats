#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Predicates of tables have the grammar of expressions: the records that xsort --where selects from
# the same text, whatever the layout and the number of threads; and values that do not fit.
# shellcheck disable=SC2154 # bats sets stderr
. "$BATS_TEST_DIRNAME/suite.bash"

full=${SP_TEST_FULL:-}

setup()
{
	begin_test
	export LC_ALL=C XTABLE=$xtable XSORT=$xsort
}

# chooses PREDICATE WANT: the numbers of the chosen records, in one line.
chooses()
{
	[ "$("$xtable" scan t --where "$1" --columns n | tail -n +2 | xargs)" = "$2" ] || {
		"$xtable" scan t --where "$1"
		false
	}
}

@test "random predicates choose the records that xsort --where selects" {
	needs python3
	python3 "$BATS_TEST_DIRNAME/xtable_where.py" $((full ? 1500 : 150)) "${SEED:-1}"
}

small()
{
	printf '%s\n' n,price,qty,day,name,note 1,9.50,2,2024-05-31,Ann,x 2,0.10,30,2024-06-01,Bob, \
		3,,4,2023-12-31,"O'Neil",12 4,100,1,2024-02-29,bob,7up >in.csv
	"$xtable" load t in.csv --csv --header --overwrite "$@"
}

@test "arithmetic, functions, like, between and lists work with each layout" {
	local layout

	for layout in nsm pax dsm csm; do
		small --layout=$layout
		chooses 'price * qty between 3 and 19' '1 2'
		chooses 'price * qty = 3' 2
		chooses "name like '%b'" '2 4'
		chooses "lower(name) = 'bob' and month(day) = 6" 2
		chooses "day ^= '2024-0'" '1 2 4'
		chooses "name in ('Ann', upper('x'), 'O''Neil')" '1 3'
		chooses 'n in (qty, price, 4)' 4
		chooses 'coalesce(price, 0) < 1' '2 3'
		chooses 'price + 1 is null or $1 = 1' '1 3'
		chooses "if(qty > 3, 'many', 'few') = 'many'" '2 3'
	done
}

@test "a value that a function cannot take is an error with the record, unless it does not matter" {
	small
	"$xtable" scan t >before
	run -2 --separate-stderr "$xtable" scan t --where 'number(note) > 5' -o out
	[[ $stderr == *"record 0: 'x' is not a number"* ]]
	[ ! -e out ]
	run -2 --separate-stderr "$xtable" update t --where 'n = 4 or number(note) > 5' --set price=1
	[[ $stderr == *"record 0: 'x' is not a number"* ]]
	"$xtable" scan t | cmp - before
	chooses "n in (2, 3) and number(note) > 5" 3
	chooses "n in (1, 4) or number(note) > 5" '1 3 4'
	"$xtable" delete t 0
	run -2 --separate-stderr "$xtable" scan t --where 'number(note) > 5' --agg 'count()'
	[[ $stderr == *"record 3: '7up' is not a number"* ]]
	"$xtable" delete t --where "note = '7up'"
	chooses 'number(note) > 5' 3
}

@test "an error of one of many records is found by any number of threads" {
	local threads

	seq 200000 | sed 's/$/,7/; 150001s/7/seven/' | "$xtable" load t - -t, --types=c1:i32,c2:text
	for threads in 1 2 8; do
		run -2 --separate-stderr "$xtable" scan t --where 'number(c2) = 8' --parallel=$threads
		[[ $stderr == *"record 150000: 'seven' is not a number"* ]]
		[ "$("$xtable" scan t --where 'c1 != 150001 and number(c2) + c1 % 2 = 8' --agg 'count()' --parallel=$threads)" = 99999 ]
	done
}

@test "what is not a predicate is refused with its character, and what to do" {
	small
	refused()
	{
		run -2 --separate-stderr "$xtable" scan t --where "$1"
		[[ $stderr == *"$2"* ]] || {
			echo "$stderr"
			false
		}
	}
	refused 'prise > 1' "no column 'prise'"
	refused 'price' "a comparison is missing, such as x > 3, at 'price', character 1"
	refused 'name * 2 > 1' "column 'name' has the type text, and a number is needed: number() converts texts"
	refused 'price = 1 qty = 2' "'and', 'or' or the end is expected at 'qty = 2', character 11"
	refused 'lowercase(name) = 1' "there is no function 'lowercase'"
	refused 'price > null' "write 'is null'"
	refused '1 = 1' "one side must be a column"
}

@test "a list can be long, and an index serves what is a range" {
	local list

	seq 20000 | "$xtable" load t - --types=c1:i32
	list=$(seq -s, 2 2 20000)
	[ "$("$xtable" scan t --where "c1 in ($list)" --agg 'count()')" = 10000 ]
	"$xtable" index t c1
	"$xtable" scan t --where 'c1 between 100 and 120' --access=index | cmp - <(seq 100 120)
	run -2 --separate-stderr "$xtable" scan t --where 'c1 + 0 = 100' --access=index
	[[ $stderr == *index* ]]
	[ "$("$xtable" scan t --where 'c1 + 0 = 100')" = 100 ]
}
