#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# xgroup --percent, --cumulative, --pivot, --split: columns that depend on other rows, columns of values,
# and a file for each group.
. "$BATS_TEST_DIRNAME/suite.bash"

full=${SP_TEST_FULL:-}
setup()
{
	begin_test tmp
	printf 'city,year,n\nx,1,2.5\ny,2,5\nx,2,\nz,1,2.5\n' >in.csv
}

@test "random records: rows and files are those of Python" {
	needs python3
	mkdir work && cd work
	python3 "$BATS_TEST_DIRNAME/xgroup_rows.py" "$xgroup" $((full ? 1500 : 60)) "${SEED:-1}"
}

@test "shares and running totals of JSON are numbers, and have names" {
	"$xgroup" --csv --header -k city -a 'sum(n)' --percent --cumulative='percent(sum(n)) as run' --format=json in.csv |
		cmp - <(printf '%s\n' '{"city":"x","sum(n)":2.5,"percent(sum(n))":25.000000,"run":25.000000}' \
			'{"city":"y","sum(n)":5,"percent(sum(n))":50.000000,"run":75.000000}' \
			'{"city":"z","sum(n)":2.5,"percent(sum(n))":25.000000,"run":100.000000}')
	seq 4 | "$xgroup" -k 1 -a 'count(), sum(1) as s' --percent='s as as' --cumulative --limit=2 | cmp - <(printf '%s\n' '1 1 1 10.000000 1' '2 1 2 20.000000 2')
	printf '1 5\n2 -5\n3 NA\n' | "$xgroup" -k 1 -a 'sum(2)' --null=NA --percent |
		cmp - <(printf '1 5 NA\n2 -5 NA\n3 NA NA\n')
	printf '1 1e300\n2 1e300\n3 4e-300\n' | "$xgroup" -k 1 -a 'sum(2)' --cumulative --percent='' |
		cmp - <(printf '1 1e+300 50.000000 1e+300\n2 1e+300 50.000000 2e+300\n3 4e-300 0.000000 2e+300\n')
}

@test "running totals of sums above 10^18 are exact, and NaN is not 0" {
	printf 'a 900000000000000001\na 100000000000000000\nb 2\nc 0.5\n' >n
	"$xgroup" -k 1 -a 'sum(2)' --cumulative --percent n | cmp - <(printf '%s\n' \
		'a 1000000000000000001 100.000000 1000000000000000001' 'b 2 0.000000 1000000000000000003' \
		'c 0.5 0.000000 1000000000000000003.5')
	yes 'a 999999999999999999' | head -n 300000 >many
	printf '%s\n' {b..z} | while read -r key; do sed "s/a/$key/" many; done | cat many - |
		"$xgroup" -k 1 -a 'sum(2)' --cumulative --percent --order='sum(2):r' | tail -n 1 |
		cmp - <(echo z 299999999999999999700000 3.846154 7799999999999999992200000)
	printf 'a inf\na -inf\nb 1\n' | "$xgroup" -k 1 -a 'sum(2)' --cumulative --percent |
		cmp - <(printf 'a nan - nan\nb 1 - nan\n')
}

@test "order by a key: the text of --null is no value, as in JSON" {
	printf 'b\nNA\na\n' | "$xgroup" -k 1 --null=NA --order=1 | cmp - <(printf 'NA 1\na 1\nb 1\n')
	printf 'b\nNA\na\n' | "$xgroup" -k 1 --null=NA --order=1:r --format=json |
		cmp - <(printf '%s\n' '{"1":"b","count()":1}' '{"1":"a","count()":1}' '{"1":null,"count()":1}')
	printf '3\nNA\n-1\n' | "$xgroup" -k 1 --null=NA --order=1:r -a 'min(1)' | cmp - <(printf '3 3\n-1 -1\nNA NA\n')
}

@test "names in double quotes of columns of shares and running totals" {
	"$xgroup" --csv --header -k city -a 'sum(n) as "x as y"' --percent='"x as y"' --percent='x as y  as  z ' \
		--cumulative=' "x as y" as "a as ""b"' --cumulative=z --limit=1 in.csv |
		cmp - <(printf '%s\n' 'city,x as y,percent(x as y),z,"a as ""b",cumulative(z)' x,2.5,25.000000,25.000000,2.5,25.000000)
	for name in 's as ""' 's as ' ' as'; do
		run -2 "$xgroup" --csv --header -k city -a 'sum(n) as s' --percent="$name" in.csv
		[[ $output = *"a name is expected behind 'as'"* || $output = *"no column 'as'"* ]]
	done
}

@test "a bin of a histogram is a count" {
	seq 10 | "$xgroup" -k 'floor($1 / 5)' -a 'hist(1, 4)' --percent='$1<4' --cumulative='$1>=4' |
		cmp - <(printf '%s\n' '0 3 1 100.000000 1' '1 0 5 0.000000 6' '2 0 1 0.000000 7')
}

@test "what has no total is refused" {
	for options in '-a mean(n) --percent' '-a count(),mean(n) --cumulative=mean(n)' '--percent=cuont()' '--percent=city' \
		'--cumulative=percent(count())' '--percent=as '; do
		run -2 "$xgroup" --csv --header -k city $options in.csv
		[[ $output = *": --"* || $output = *"the nearest one is 'count()'"* || $output = *"has no column"* ]]
	done
	run -2 "$xgroup" --csv --header -k city --percent='count() as city' --format=json in.csv
	[[ $output = *"two columns of the result have the name 'city'"* ]]
	run -2 "$xgroup" --csv --header -k city --percent --having='"percent(count())" > 3' in.csv
	[[ $output = *"no column"* ]]
}

@test "a pivot has a column for each value and aggregate" {
	"$xgroup" --csv --header -k city --pivot=year:nr -a 'count() as c, sum(n) as s' in.csv |
		cmp - <(printf '%s\n' city,2_c,2_s,1_c,1_s x,1,,1,2.5 y,1,5,0, z,0,,1,2.5)
	tail -n +2 in.csv | "$xgroup" -t, --pivot=1 --limit=1 | cmp - <(printf 'x,y,z\n2,1,1\n')
	tail -n +2 in.csv | "$xgroup" -t, -k 1 --pivot=3 -a 'first(2) as f' --format=json |
		cmp - <(printf '%s\n' '{"1":"x","NULL":"2","2.5":"1","5":null}' \
			'{"1":"y","NULL":null,"2.5":null,"5":"2"}' '{"1":"z","NULL":null,"2.5":"1","5":null}')
	"$xgroup" -k 1 --pivot=2 </dev/null | cmp - <(echo 1)
	[ "$("$xgroup" --pivot=1 </dev/null | wc -c)" = 0 ]
	printf 'a,NA\na,\nNA,b\n' >nulls
	"$xgroup" -t, -k 1 --pivot=2 --null=NA nulls | cmp - <(printf '1,NULL,NA,b\nNA,0,0,1\na,1,1,0\n')
	"$xgroup" -t, -k 1 --pivot=2 --null=NA --format=json nulls |
		cmp - <(printf '%s\n' '{"1":null,"NULL":0,"NA":0,"b":1}' '{"1":"a","NULL":1,"NA":1,"b":0}')
	run -2 "$xgroup" --csv --header -k 'n as x' --pivot=city --format=json in.csv
	[[ $output = *"two columns of the result have the name 'x'"* ]]
	run -2 "$xgroup" -k 1 --pivot='$1 * 2' < <(seq 10001)
	[[ $output = *"more than 10000 columns"* ]]
	seq 10000 | "$xgroup" --pivot='$1 * 2' | tail -n 1 | tr ' ' '\n' | uniq -c | grep -qx ' *10000 1'
	run -2 "$xgroup" --pivot=1 < <(printf 'a%.0s' {1..1100000})
	[[ $output = *"1 MiB of names"* ]]
	for options in '--having=$1>1' --percent --cumulative --order=1:r --largest=1 --split=%s; do
		run -2 "$xgroup" -k 1 --pivot=2 $options in.csv
		[[ $output = *"exclude each other"* ]]
	done
}

@test "a calculated field with a separator is not two fields" {
	run -2 "$xgroup" -t, -k "\$1 || ','" in.csv
	[[ $output = *"has a separator of fields or lines in it"* ]]
	run -2 "$xgroup" -k "\$1 || ' a'" in.csv
	[[ $output = *"has a separator"* ]]
	run -2 "$xgroup" -t, -k "\$1 || '"$'\n'"'" in.csv
	[[ $output = *"has a separator"* ]]
	run -2 "$xgroup" -t, --pivot "\$1 || ','" in.csv
	[[ $output = *"has a separator"* ]]
	"$xgroup" --csv -k "\$1 || ','" -a 'count()' in.csv | head -n 1 | cmp - <(echo '"city,",1')
}

@test "a file for each group: names that keys could not have, and nothing outside" {
	mkdir out
	printf '%s,1\n' .. . a/b .etc '' % 'a b' $'t\tab' é -x .hidden >keys
	"$xgroup" -t, -k 1 --split='out/%s' keys
	find out -type f -printf '%f\n' | LC_ALL=C sort >names
	printf '%s\n' % %25 %2E %2E. %2Eetc %2Ehidden -x 'a b' a%2Fb t%09ab é >want
	cmp names want
	cat out/* | LC_ALL=C sort | cmp - <(LC_ALL=C sort keys)
	printf 'a-b,c\na,b-c\n' | "$xgroup" -t, -k 1 -k 2 --split='out/%s-%s'
	[ "$(cat out/a%2Db-c)" = a-b,c ]
	[ "$(cat out/a-b%2Dc)" = a,b-c ]
	echo 1 | "$xgroup" -k 1 --split=out/100%%-%s
	[ "$(cat out/100%-1)" = 1 ]
}

@test "letters of keys: records that compare equal are in one file, named by the first" {
	printf 'Bonn 1\nbonn 2\nKiel 3\n' | "$xgroup" -k 1f --split='%s.txt'
	cmp Bonn.txt <(printf 'Bonn 1\nbonn 2\n')
	[ "$(ls ./*.txt | wc -l)" = 2 ]
}

@test "files replace older ones, but neither an input nor the file of another group" {
	echo old >x.csv
	"$xgroup" --csv --header -k city --split='%s.csv' --stats=stats.json in.csv
	cmp x.csv <(printf 'city,year,n\nx,1,2.5\nx,2,\n')
	needs jq
	[ "$(value output_files stats.json)" = 3 ]
	cp in.csv y.csv
	cp y.csv before
	run -2 "$xgroup" --csv --header -k city --split='%s.csv' y.csv
	[[ $output = *"y.csv"*"the file of a group is an input"* ]]
	[[ $output = *"1 file of groups before the error is complete"* ]]
	cmp y.csv before
	ln -sf x.csv z.csv
	run -2 "$xgroup" --csv --header -k city --split='%s.csv' in.csv
	[[ $output = *"z.csv"*"two groups have this file"* ]]
	cmp x.csv <(printf 'city,year,n\nx,1,2.5\nx,2,\n')
	run -2 "$xgroup" --csv --header -k city --split='none/%s.csv' in.csv
	[[ $output = *none/x.csv* ]]
	printf 'k%.0s' {1..300} >long
	run -2 "$xgroup" -k 1 --split=%s long
	[ "$output" = "xgroup: --split: the name '$(printf 'k%.0s' {1..40})...' of the file of a group has 300 bytes, which are too many; a key of fewer bytes is substr(KEY, 1, 50)" ]
}

@test "forms of names that would not name each group are refused" {
	for form in all.csv %s-%s %d.csv %; do
		run -2 "$xgroup" -t, -k 1 --split=$form in.csv
		[[ $output = *--split* ]]
	done
	for form in %s%s %sab%s %s; do
		run -2 "$xgroup" -t, -k 1 -k 2 --split=$form in.csv
		[[ $output = *--split* ]]
	done
	run -2 "$xgroup" --split=%s in.csv
	[[ $output = *"needs a key"* ]]
	run -2 "$xgroup" -k 1 --split=%s -o out in.csv
	[[ $output = *--output* ]]
	for options in "-a count()" "--having=\$1>1" --order=first --limit=3 --format=json --compress-output=gzip; do
		run -2 "$xgroup" -k 1 --split=%s $options in.csv
		[[ $output = *"exclude each other"* ]]
	done
	[ "$(ls)" = "$(printf 'in.csv\ntmp')" ]
}

@test "a full device: an error, and no part of a file under its name" {
	awk 'BEGIN { for (i = 0; i < 3; i++) for (k = 0; k < 9000; k++) print "k" i, "text of a record" }' >in
	(
		ulimit -f 100
		run -2 "$xgroup" -k 1 --split='%s.part' in
		[[ $output = *k0.part* ]]
	)
	[ -z "$(ls ./*.part 2>/dev/null)" ]
	[ -z "$(ls tmp)" ]
}
