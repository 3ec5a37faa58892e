#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# xgroup: aggregates that count numbers by buckets: estimated percentiles, histograms.
. "$BATS_TEST_DIRNAME/suite.bash"

setup()
{
	begin_test tmp
}

@test "estimated percentiles of a few numbers" {
	seq 0 100 >n
	run -0 "$xgroup" --agg '~median(1) as m, ~p0(1), ~p100(1), ~P12.5(1), ~p99(1)' n
	[ "$output" = '50 0 100 12.5 99' ]
	printf -- '-7\n-7\n2.5\n\n1e300\n' >n
	run -0 "$xgroup" -t, --header --agg '~p0(x), ~median(x)' --having '~p0(x) < -1 and "~median(x)" < 0' --order='~p0(x):r' <(echo x; cat n)
	[ "${lines[1]}" = "-7,-2.25" ]
	run -0 "$xgroup" --agg '~p100(1)' n
	[ "$output" = 1e+300 ]
	run -0 "$xgroup" -t, --format=json --agg '~p100(1), ~p0(2)' n
	[ "$output" = '{"~p100(1)":1e+300,"~p0(2)":null}' ]
	for x in -255 255 1000 0 inf -inf 0.1 5e-10 1e+300 -1e-300 1.5e+200; do
		run -0 "$xgroup" --agg '~p33(1)' <<<$x
		[ "$output" = "$x" ]
	done
	run -0 "$xgroup" --agg '~p33(1)' <<<1e-310
	[ "$output" = 0 ]
	run -0 "$xgroup" -t, --header --where 'x > 3' --agg '~p33(x)' <<<$'x\n1'
	[ "$output" = '~p33(x)' ]
	fails_with "xgroup: ~ must be before median or p0 to p100 at '~sum(1)'" "$xgroup" --agg '~sum(1)' n
	fails_with "xgroup: ~ must be before median or p0 to p100 at '~p101(1)'" "$xgroup" --agg '~p101(1)' n
	fails_with "xgroup: '(' is expected behind a function '1'" "$xgroup" --agg '~p5 1' n
	run -2 "$xgroup" --agg '~p50(1)' -o out <<<x
	[[ $output == *"line 1: ~p50(1): 'x' is not a number"* ]]
	[ ! -e out ]
}

# Numbers of all magnitudes, in groups of 1 to 100,000.
numbers()
{
	awk 'BEGIN {
		srand(7)
		for (i = 0; i < 200000; i++) {
			k = i % 2 ? "a" : i % 5 ? "b" i % 997 : "c" i
			e = k == "a" ? 600 * rand() - 300 : 6 * rand() - 3
			printf "%s %s%.9ge%d\n", k, rand() < 0.3 ? "-" : "", 1 + 9 * rand(), e
		}
	}'
}

@test "estimates are the same for all orders, memory and threads, and near the exact ones" {
	numbers >n
	"$xgroup" -k 1 --parallel=1 --agg '~p1(2), ~median(2), ~p99(2), ~p100(2)' n >want
	sort -R --random-source=/dev/zero n >other
	for threads in $(few 1 2 3 8); do
		for memory in 1b 2M 64M; do
			"$xgroup" -k 1 -S $memory --parallel=$threads --stats=r.json \
				--agg '~p1(2), ~median(2), ~p99(2), ~p100(2)' other | cmp - want
			[ $memory = 64M ] || [ "$(value tables_emptied)" -gt 0 ]
		done
	done
	"$xgroup" -k 1 -S 1M --agg '~p1(2), ~median(2), ~p99(2), ~p100(2)' <n | cmp - want
	"$xgroup" -k 1 --agg 'p1(2), median(2), p99(2), p100(2)' n |
		paste -d' ' - want | awk '
			function near(x, y, most) {
				d = x > y ? x - y : y - x
				m = x < 0 ? -x : x
				if (d > most * m + 1e-12)
					exit(bad = 1)
			}
			# p100 is one number.  600 powers of ten are in 6 * 10^5 buckets, so joined 6 times.
			{ near($5, $10, $1 == "a" ? 0.5 : 1 / 128) }
			END { exit bad }'
}

@test "histograms have a column for each bin" {
	printf 'x,k\n-5,a\n0,a\n9.999999999,a\n10,b\n19,b\n20,b\n,b\n1e300,c\n-1e-12,c\n-,d\n' >h
	run -0 "$xgroup" --csv --header --null=- -k k --agg 'hist(x, 0, 10, 20), sum(x)' h
	[ "$output" = $'k,x<0,0<=x<10,10<=x<20,x>=20,sum(x)\na,1,2,0,0,4.999999999\nb,0,0,2,1,49\nc,1,0,0,1,1e+300\nd,0,0,0,0,' ]
	run -0 "$xgroup" --csv --header --null=- --format=json --agg 'hist(x * 2, -10 to 20.5 by 30.5, 40) as y' \
		--having '"y<-10" = 0 and "-10<=y<20.5" > 1' h
	[ "$output" = '{"y<-10":0,"-10<=y<20.5":5,"20.5<=y<40":1,"y>=40":2}' ]
	run -0 "$xgroup" --csv --header --null=- -k k --agg 'hist(x, -1)' --order='x>=-1:r' --limit=1 h
	[ "${lines[1]}" = b,0,3 ]
	run -0 "$xgroup" --csv --header --null=- --agg 'hist(1 * x, 2), hist(1, 2)' h
	[ "${lines[0]}" = '1 * x<2,1 * x>=2,x<2,x>=2' ]
	run -0 "$xgroup" --csv --header --agg 'hist("2024", 2), hist(1, 3)' <<<$'2024\n5'
	[ "$output" = $'2024<2,2024>=2,2024<3,2024>=3\n0,1,0,1' ]
	run -0 "$xgroup" --format=json --agg 'hist(1, 2)' <<<5
	[ "$output" = '{"$1<2":0,"$1>=2":1}' ]
	run -0 "$xgroup" --csv --header --agg 'hist(x, 2)' /dev/null
	[ "$output" = $'x<2,x>=2\n0,0' ]
	run -0 "$xgroup" --csv --header --agg 'hist("a,b", 2)' <<<$'"a,b"\n2'
	[ "$output" = $'"a,b<2","a,b>=2"\n0,1' ]
	seq 0 999 >n
	run -0 "$xgroup" --agg 'hist(1, 1 to 999 by 1), hist(1, 0 to 500 by 250)' n
	[ "$output" = "$(yes 1 | head -n 1000 | tr '\n' ' ')0 250 250 500" ]
}

@test "bounds of histograms that are refused" {
	local refused

	for refused in 'hist(1)|bounds are expected' 'hist(1,)|bounds are expected' \
		'hist(1, 2, 2)|bounds of hist() must ascend: 2 is not above 2' \
		'hist(1, 2, -1.5)|bounds of hist() must ascend: -1.5 is not above 2' \
		'hist(1, 0 to 2 by 1, 1)|bounds of hist() must ascend: 1 is not above 2' \
		"hist(1, 0 to 1)|'by' is expected, as in 0 to 100 by 10" \
		"hist(1, 0 to 10 by 3)|'by' must divide the distance" \
		"hist(1, 0 to 10 by 0)|'by' must divide" "hist(1, 0 to 10 by -1)|'by' must divide" \
		"hist(1, 5 to 5 by 1)|'by' must divide" \
		'hist(1, 0 to 1000 by 1)|hist() has at most 1000 bounds' \
		"hist(1, 1e3 to 2e3 by 1e3)|'to' and 'by' need numbers" \
		'hist(1, inf)|bounds are expected' 'hist(1, nan)|bounds are expected' \
		'hist(1, x)|bounds are expected' "hist(1, 3|')' is expected" 'hist()|a column is expected'; do
		run -2 "$xgroup" --agg "${refused%%|*}" -o out <<<1
		[[ $output == "xgroup: ${refused#*|}"* ]]
		[ ! -e out ]
	done
	run -2 "$xgroup" --agg 'hist(1, 3)' <<<x
	[[ $output == "xgroup: -: line 1: \$1<3: 'x' is not a number"* ]]
	fails_with "xgroup: two columns of the result have the name '\$1>=3': add 'as NAME' to one of them" \
		"$xgroup" --format=json --agg 'hist(1, 3), hist(1, 2, 3)' /dev/null
}
