#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# xgroup of tables of xtable.
. "$BATS_TEST_DIRNAME/suite.bash"

full=${SP_TEST_FULL:-}
setup()
{
	begin_test tmp
	printf '%s\n' id,city,price,note 0,x,2.5,a 1,y,5,NA 2,x,,'"b, ""c"""' 3,NA,1,d 4,x,0.5,NA >in.csv
}

# load [OPTION...]: makes the table t of in.csv.
load() { "$xtable" load --csv --header "$@" t in.csv 2>load.err || cat load.err; }

@test "random tables: the results of Python, and of the printed records" {
	needs python3
	mkdir work && cd work
	python3 "$BATS_TEST_DIRNAME/xgroup_tables.py" "$xgroup" "$xtable" $((full ? 1500 : $(fewer 12 4))) "${SEED:-1}"
}

@test "each layout, any number of threads: the bytes of the printed records" {
	seq 60000 | awk 'BEGIN { print "id,city,price,note" }
		{ print $1 ",c" $1 % 97 "," ($1 % 1000) / 8 "," ($1 % 5 ? "note " $1 : "") }' >in.csv
	for layout in $(fewer "nsm pax dsm csm" "pax csm"); do
		load --layout=$layout --overwrite
		"$xtable" scan t --format=csv >printed
		for keys in '-k city' '-k note --order=first' '-k city --pivot=id%3'; do
			"$xgroup" --csv --header $keys -a 'sum(price), last(note), count(note)' printed >want
			for threads in $(few 1 2 3 8); do
				"$xgroup" t $keys -a 'sum(price), last(note), count(note)' --parallel="$threads" -S 8M | cmp - want
			done
		done
	done
}

@test "the report counts records, and bytes of the columns that are needed" {
	needs jq
	seq 100000 | awk 'BEGIN { print "id,city,price,note" } { print $1 ",c,1," $1 * 1000003 "-" $1 * 999983 }' >in.csv
	load --layout=csm
	"$xgroup" t -k city --stats=r.json >out
	cmp out <(printf 'city,count()\nc,100000\n')
	jq -e --argjson all "$(stat -c %s t)" '.result.records == 100000 and .result.groups == 1 and
		.result.input_bytes == 200000 and .io.read_bytes > 0 and .io.read_bytes < $all / 4' r.json
	"$xgroup" t --largest=100000 --stats=r.json | cmp - in.csv
	jq -e '.result.records == 100000 and .result.output_records == 100000' r.json
	jq -e --argjson all "$(stat -c %s t)" '.io.read_bytes > $all / 2' r.json
	"$xtable" delete t --where 'id > 10'
	"$xgroup" t --stats=r.json --where 'id > 8' | cmp - <(printf 'count()\n2\n')
	jq -e '.result.records == 10 and .result.filtered == 8' r.json
}

@test "block requests of the table are in the trace" {
	load
	"$xgroup" t -k city --trace=trace >/dev/null
	grep -q '^R t [0-9]* [0-9]' trace
}

@test "NULL is an empty field, whatever its spelling was; an empty text has no value either" {
	load --null=NA
	"$xgroup" t -k city -a 'count(), count(note), sum(price)' |
		cmp - <(printf '%s\n' 'city,count(),count(note),sum(price)' ,1,1,1 x,3,2,3.0 y,1,0,5)
	printf 'a|b\n1|\n2|""\n3|x\n' >in.csv
	"$xtable" load -t'|' --header --overwrite t in.csv 2>/dev/null
	"$xgroup" t -k b | cmp - <(printf 'b,count()\n,1\n"""""",1\nx,1\n')
	printf 'a\n\n1\n\n' | "$xtable" load --csv --header --overwrite t - 2>/dev/null
	"$xgroup" t -k a | cmp - <("$xtable" scan t --format=csv | "$xgroup" --csv --header -k a)
}

@test "names, numbers of columns and whole records" {
	load
	"$xgroup" t -k 2 -a 'max(1) as last' --where '$1 < 4' | cmp - <(printf 'city,last\nNA,3\nx,2\ny,1\n')
	"$xgroup" t -k city --largest=1 -k id:nr | cmp - <(printf '%s\n' id,city,price,note 3,NA,1,d 4,x,0.5,NA 1,y,5,NA)
	"$xgroup" t -k city --split='%s.csv'
	cmp x.csv <(printf '%s\n' id,city,price,note 0,x,2.5,a 2,x,,'"b, ""c"""' 4,x,0.5,NA)
	"$xgroup" t -k city --format=json --limit=1 | cmp - <(echo '{"city":"NA","count()":1}')
	"$xgroup" --csv --header -k city t | cmp - <("$xgroup" -k city t)
	head -n 1 in.csv | "$xtable" load --csv --header --types=id:i32,city:text,price:f64,note:text --overwrite t -
	"$xgroup" t -k city | cmp - <(echo 'city,count()')
	"$xgroup" t | cmp - <(printf 'count()\n0\n')
}

@test "the result can replace the table" {
	load
	"$xgroup" t -k city -o t
	cmp t <(printf '%s\n' 'city,count()' NA,1 x,3 y,1)
}

@test "what does not go with a table is refused, and nothing is written" {
	load
	fails_with "xgroup: t: is a table, which is grouped without other inputs: group what 'xtable scan' prints" "$xgroup" in.csv t
	fails_with "xgroup: t: is a table, which needs no separator of fields (-t)" "$xgroup" -t, t
	fails_with "xgroup: t: is a table, which needs no --decompress" "$xgroup" --decompress t
	fails_with "xgroup: t: is a table, which needs no end of lines (-z)" "$xgroup" -z t
	for options in '' --csv '--csv --header' '-t, -k1'; do
		# shellcheck disable=SC2086 # several options
		run -2 "$xgroup" $options < <(cat t)
		[ "$output" = 'xgroup: -: is a table, which is read by its name, not through a pipe' ] || { echo "$output"; false; }
	done
	fails_with "xgroup: /dev/stdin: is a table, which is read by its name" "$xgroup" -k 1 <t
	fails_with "xgroup: no column has the name 'nope'; the nearest one is 'note'" "$xgroup" -k nope t
	run -2 "$xgroup" -k city -a 'sum(note)' t
	[[ $output = "xgroup: t: sum(note): 'a' is not a number; --null="* ]]
	run -2 "$xgroup" -k city t --volume=sim:tiny
	[[ $output = "xgroup: t: is not read on a simulated volume"* ]]
	printf x | dd of=t bs=1 seek=$(($(stat -c %s t) - 4096)) conv=notrunc status=none
	"$xtable" check t >check || true
	run -2 "$xgroup" -k city -a 'sum(price), count(note), min(id)' -o out t
	[[ $output = "xgroup: t: "*damaged* || $output = "xgroup: t: cell"* ]]
	[ ! -e out ]
}
