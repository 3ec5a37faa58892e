#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# aiobench: sweep, mix, compare, pictures.
. "$BATS_TEST_DIRNAME/suite.bash"
load keys

@test "a sweep finds the knees of a simulated drive, the same every time" {
	run -0 "$aiobench" sweep --runtime=120 --bs=16K --stats=r.json sim:ultrastar36lzx-like
	[[ $output == *"of virtual time"* && $output == *"R recommended"* && $output == *"L latency knee"* ]]
	[ "$(value schema)" = '"spindle.aiobench/1"' ]
	[ "$(value kind)" = '"sweep"' ]
	cp r.json first.json
	"$aiobench" sweep --runtime=120 --bs=16K --stats=r.json sim:ultrastar36lzx-like
	cmp r.json first.json
}

@test "a sweep of a device that does one at a time recommends one" {
	run -0 "$aiobench" sweep --runtime=200 --depth=16 sim:linear,merge=no
	[[ $output == *"R recommended         1 (1 to 1)"* ]]
	[[ $output == *"+-"* && $output == *"   16 "* && $output != *"   32 "* ]]
}

# judge: the knees of a sweep are the least depths of its table with 90 and 95 % of the highest,
# as far as printed digits tell
judge()
{
	awk '
		/^ *[0-9]+ +[0-9.]+ / { depth[++n] = $1; iops[$1] = $2; if ($2 > most) most = $2 }
		/^[RT] / { for (i = 2; i <= NF; i++) if ($i ~ /^\(/) knee[$1] = $(i - 1) }
		function least(k, share, i) {
			if (!(k in iops) || iops[k] + 1 < share * most) return 0
			for (i = 1; i <= n && depth[i] < k + 0; i++)
				if (iops[depth[i]] - 1 > share * most) return 0
			return 1
		}
		END { exit !(least(knee["R"], 0.9) && least(knee["T"], 0.95)) }' "$1"
}

@test "the text under a sweep's table agrees with the table" {
	for seed in 1 2; do
		"$aiobench" sweep --runtime=4 --seed=$seed sim:flash > out
		judge out
		"$aiobench" sweep --runtime=30 --depth=64 --bs=16K --seed=$seed --stats=r.json \
			sim:ultrastar36lzx-like > out
		judge out
		if grep -q "^warning: noise is larger than" out; then
			[ "$(value noise_hides)" != null ]
		else
			[ "$(value noise_hides)" = null ]
		fi
	done
}

@test "a sweep whose depths differ only by noise says so" {
	run -0 "$aiobench" sweep --runtime=8 --depth=32 --bs=16K --stats=r.json sim:ultrastar36lzx-like
	[[ $output == *"warning: noise is larger than the difference between depths 8 and 16: "* ]]
	[ "$(value noise_hides)" = '"smaller"' ]
	[ "$(value alike_depth_low)" = 8 ]
}

@test "a sweep of a file creates it once and removes it" {
	run -0 "$aiobench" sweep --direct=0 --create --remove --size=1M --depth=8 --runtime=600ms \
		--rw=randrw --stats=r.json t
	[ ! -e t ]
	[ "$(value errors)" = "[]" ] || [ "$(value errors)" = 0 ]
	[[ $output == *"8 "* ]]
	run -0 "$aiobench" sweep --direct=0 --create=sparse --size=1M --depth=2 --runtime=200ms t
	[ "$(stat -c %s t)" = 1048576 ]
	run -2 "$aiobench" sweep --direct=0 --rw=randwrite --depth=2 --runtime=200ms t
	[[ $output == *"its data would be lost"* ]]
}

@test "too little time gives no knees" {
	run -0 "$aiobench" sweep --runtime=6 sim:ultrastar36lzx-like
	[[ $output == *"no knees: each depth must be measured three times"* ]]
	run -2 "$aiobench" sweep --runtime=2 sim:ultrastar36lzx-like
	[[ $output == *"no measurement was long enough for a request"* ]]
}

@test "an interrupted sweep reports the measurements so far" {
	head -c 1M /dev/zero > t
	"$aiobench" sweep --direct=0 --runtime=6 --depth=4 --stats=r.json t > out &
	pid=$!
	sleep 3
	kill -TERM $pid
	wait $pid
	grep -q "stopped before the end" out
	[ "$(value stopped)" = true ]
	grep -q "^    4 " out
}

@test "options that a sweep does not support are refused" {
	run -2 "$aiobench" sweep --io_size=1M sim:linear
	[[ $output == *"aiobench sweep: unrecognized option '--io_size=1M'"* ]]
	run -2 "$aiobench" sweep --rate_iops=10 sim:linear
	[[ $output == *"aiobench sweep: unrecognized option '--rate_iops=10'"* ]]
	run -2 "$aiobench" sweep --class a:depth=3 sim:linear
	[[ $output == *"classes of a sweep share its depth"* ]]
	run -2 "$aiobench" sweep --engine=sync --direct=0 /dev/null
	[[ $output == *"one request outstanding at a time"* ]]
	run -2 "$aiobench" sweep --trace=x sim:linear
	[[ $output == *"aiobench sweep: unrecognized option '--trace=x'"* ]]
	run -2 "$aiobench" sweep
	[[ $output == *"missing target"* ]]
	run -2 "$aiobench" sweep absent
	[[ $output == *"absent: No such file or directory; --create --size=SIZE creates it" ]]
	run -2 "$aiobench" sweep --shares=1,2 sim:linear
	[[ $output == *"aiobench sweep: unrecognized option '--shares=1,2'"* ]]
}

@test "a mix reports the effect of priorities" {
	run -0 "$aiobench" mix --runtime=200 --depth=64 --bs=16K --shares=10,50,100 --low=idle \
		--stats=r.json sim:ultrastar36lzx-like,sched=strict
	[[ $output == *"priorities: they have an effect"* ]]
	[ "$(value kind)" = '"mix"' ]
	[ "$(value effect)" = '"yes"' ]
	[ "$(grep -c '"share": ' r.json)" -ge 3 ]
	run -0 "$aiobench" mix --runtime=200 --depth=64 --bs=16K --shares=10,50 \
		sim:ultrastar36lzx-like,sched=deadline
	[[ $output == *"priorities: no effect"* ]]
	run -0 "$aiobench" mix --runtime=100 --depth=64 --bs=16K --shares=10,50 --share-of=issued \
		sim:ultrastar36lzx-like,sched=strict
	[[ $output == *" 10%"*" 50%"* ]]
}

@test "random requests next to sequential readers" {
	run -0 "$aiobench" mix --scans --depth=8 --runtime=200 --bs=16K --stats=r.json \
		sim:ultrastar36lzx-like,sched=strict
	[[ $output == *"alone"*"same"*"priority"* ]]
	[ "$(value of)" = '"scans"' ]
	[ "$(value readers)" = 3 ]
	run -0 "$aiobench" mix --scans=2 --rate_iops=50 --runtime=60 --bs=16K --stats=r.json \
		sim:ultrastar36lzx-like,sched=strict
	[ "$(value readers)" = 2 ]
	run -2 "$aiobench" mix --scans=20 sim:linear
	[[ $output == *"--scans"* ]]
}

@test "equal priorities have no effect" {
	run -0 "$aiobench" mix --high=be --low=be --runtime=40 --shares=50,90 sim:ultrastar36lzx-like
	[[ $output == *"priorities: no effect"* ]]
}

# agrees FILE: the last column of a mix is the mean of low by that of high, as far as digits tell
agrees()
{
	sed 's/>/ /g; s/ us/e3/g; s/ ms/e6/g; s/ s\>/e9/g; s/ ns/e0/g' "$1" | awk '
		/^ *[0-9]+%/ && $NF != "-" {
			q = $7 / $4
			if (q / $NF > 1.02 || q / $NF < 0.98) bad = 1
			lines++
		}
		END { exit bad || !lines }'
}

@test "a mix agrees with itself" {
	for target in sched=strict sched=deadline sched=noop; do
		"$aiobench" mix --runtime=60 --depth=64 --shares=10,50,90 --stats=r.json \
			sim:ultrastar36lzx-like,$target > out
		agrees out
		case $(value effect) in
		'"yes"') grep -q "^priorities: they have an effect, clearest at" out ;;
		'"no"') grep -q "^priorities: no effect in the mean of all shares" out ;;
		*) grep -q "^priorities: no clear effect" out ;;
		esac
	done
}

@test "a class that got nothing back has waited longer" {
	run -0 "$aiobench" mix --runtime=60 --depth=64 --shares=10 --low=idle sim:ultrastar36lzx-like,sched=strict
	[[ $output == *" 0.0  "*">"* ]]
	run -0 "$aiobench" mix --runtime=60 --depth=64 --shares=10 --low=rt --high=idle \
		sim:ultrastar36lzx-like,sched=strict
	[[ $output == *"they have an effect"*"low requests take 0."* ]]
}

@test "a mix without both priorities says so" {
	run -0 "$aiobench" mix --runtime=2 --depth=1 sim:flash
	[[ $output == *"priorities: no setting has requests of both"* ]]
	run -0 "$aiobench" mix --runtime=60 --depth=64 --shares=50 sim:ultrastar36lzx-like,sched=deadline
	[[ $output == *" effect at 50 % high: "* ]]
}

@test "a mix on a file" {
	head -c 4M /dev/zero > t
	run -0 "$aiobench" mix --direct=0 --runtime=2 --depth=16 --shares=0,25,100 t
	[[ $output == *"  0%"*" 25%"*"100%"* ]]
	run -0 "$aiobench" mix --direct=0 --runtime=500ms --depth=4 --scans t
	[[ $output == *"scan MB/s"* ]]
	run -2 "$aiobench" mix --shares=50,10 sim:linear
	[[ $output == *"shares must increase"* ]]
	run -2 "$aiobench" mix --shares=101 sim:linear
	[[ $output == *"more than 100%"* ]]
	run -2 "$aiobench" mix --shares=1,,2 sim:linear
	[[ $output == *"invalid --shares argument"* ]]
	run -2 "$aiobench" mix --class a: --class b: sim:linear
	[[ $output == *"a mix defines its own classes"* ]]
}

@test "two reports are compared, with intervals" {
	"$aiobench" run --runtime=60 --bs=16K --stats=a.json sim:ultrastar36lzx-like > /dev/null
	"$aiobench" run --runtime=60 --bs=16K --depth=16 --stats=b.json sim:ultrastar36lzx-like > /dev/null
	run -0 "$aiobench" compare --stats=r.json a.json b.json
	[[ $output == *"A: a.json, sim:ultrastar36lzx-like"* && $output == *"IOPS"*" to "* ]]
	[ "$(value kind)" = '"compare"' ]
	awk '/"ratio_low":/ { sub(/,/, ""); if ($2 > 1 && !seen++) ok = 1 } END { exit !ok }' r.json
	"$aiobench" compare a.json a.json > same
	"$aiobench" --compare a.json a.json | cmp - same
	grep -q "IOPS .* 1.000 " same
	has_keys r.json file_a file_b config_a.classes[] config_b.classes[]
}

@test "a file that is not a report is refused" {
	"$aiobench" sweep --runtime=10 --depth=2 --stats=s.json sim:linear > /dev/null
	"$aiobench" run --runtime=5 --stats=a.json sim:linear > /dev/null
	run -2 "$aiobench" compare a.json s.json
	[[ $output == *"s.json: is not a report of aiobench run" ]]
	echo '{' > bad.json
	run -2 "$aiobench" compare bad.json a.json
	[[ $output == *"bad.json: line "* ]]
	run -2 "$aiobench" compare a.json absent.json
	[[ $output == *"absent.json: No such file or directory" ]]
	run -2 "$aiobench" compare a.json
	[[ $output == *"compare needs two reports"* ]]
	run -2 "$aiobench" compare --interleave=3 a.json a.json
	[[ $output == *"--interleave needs --a or --b"* ]]
}

@test "two settings are measured alternately" {
	run -0 "$aiobench" compare --interleave=5 --runtime=100 --bs=16K --a=--depth=1 \
		--b='--depth=32 --seed=2' --stats=r.json sim:ultrastar36lzx-like
	[[ $output == *"depth 1"*"depth 32"*"5 pairs"* ]]
	awk '/"ratio_low":/ { sub(/,/, ""); if (!seen++ && $2 > 1.5) ok = 1 } END { exit !ok }' r.json
	run -0 "$aiobench" compare --interleave=3 --runtime=50 \
		--a="'sim:ultrastar36lzx-like'" --b='sim:linear,merge=no'
	[[ $output == *"B: sim:linear"* ]]
	run -2 "$aiobench" compare --a='--depth="3' sim:linear
	[[ $output == *"a quote is not closed"* ]]
	run -2 "$aiobench" compare --a=--no-such sim:linear
	run -2 "$aiobench" run --a=--depth=3 sim:linear
	[[ $output == *"aiobench run: unrecognized option '--a=--depth=3'"* ]]
}

@test "a job file of fio defines the load" {
	head -c 1M /dev/zero > t
	printf '%s\n' '[job]' rw=randread bs=4k iodepth=8 size=1m filename=t ioengine=io_uring direct=0 > job.fio
	"$aiobench" run --fio-job=job.fio --io_size=4K > /dev/null || skip "no io_uring here"
	run -0 "$aiobench" sweep --fio-job=job.fio --runtime=500ms
	[[ $output == *$'\n    8 '* && $output != *$'\n   16 '* ]]
	run -0 "$aiobench" mix --fio-job=job.fio --runtime=2 --shares=25
	[[ $output == *" 25%"* ]]
	run -0 "$aiobench" compare --interleave=3 --a='--fio-job=job.fio --runtime=300ms' \
		--b='--fio-job=job.fio --depth=2 --runtime=300ms'
	[[ $output == *"depth 8"*"depth 2"* ]]
}

@test "settings on a file that is made for both" {
	run -0 "$aiobench" compare --interleave=3 --runtime=400ms --direct=0 --create --remove --size=1M \
		--b=--depth=8 t
	[[ $output == *"IOPS"* ]]
	[ ! -e t ]
}

@test "the keys of reports are those that are promised" {
	"$aiobench" run --runtime=5 --fixedbufs --stats=run.json --class a:share=50 --class b: sim:linear > /dev/null
	"$aiobench" sweep --runtime=40 --depth=4 --fixedbufs --stats=sweep.json sim:linear > /dev/null
	"$aiobench" mix --runtime=40 --depth=8 --shares=0,50,100 --fixedbufs --stats=mix.json sim:linear > /dev/null
	"$aiobench" compare --runtime=40 --interleave=3 --a= --stats=compare.json sim:linear > /dev/null
	has_keys run.json config.classes[] result.no_effect[] sim
	has_keys sweep.json config.classes[] result.no_effect[] result.latency_knee result.throughput_knee result.recommended \
		points[].classes[]
	has_keys mix.json config.classes[] result.no_effect[] points[].classes[] \
		preflight preflight.layers[] preflight.remarks[]
	has_keys compare.json config_a.classes[] config_b.classes[] result
}

@test "a picture shows a run over time, and each of two equal series" {
	needs gnuplot
	"$aiobench" run --runtime=20 --depth=8 --plot=run.svg sim:linear >/dev/null
	grep -q 'Throughput over time' run.svg
	grep -q 'Latency over time' run.svg
	grep -q '>p50<' run.svg
	grep -q '>p99<' run.svg
	run -1 grep 'Outstanding requests' run.svg
	# One point for each hundredth of the run.
	[ "$(grep -c 'gpPt' run.svg)" -gt 150 ]
	head -c 1M /dev/zero >t
	"$aiobench" run --runtime=100ms --direct=0 --plot=fast.svg t >/dev/null
	grep -q 'µs' fast.svg
	"$aiobench" policy --size=64M --runtime=1 --load=scan --plot=policy.svg sim:linear >/dev/null
	grep -q 'stroke-width="8.00"' policy.svg
	grep -q 'stroke-width="1.50"' policy.svg
}

@test "pictures are drawn by gnuplot" {
	needs gnuplot
	"$aiobench" run --runtime=20 --depth=8 --plot=run.png sim:linear > /dev/null
	"$aiobench" run --runtime=20 --depth=8 --plot=run.svg --class a:share=50 --class "it's b:" \
		sim:linear > /dev/null
	"$aiobench" sweep --runtime=40 --depth=8 --plot=sweep.png sim:linear > /dev/null
	"$aiobench" mix --runtime=40 --depth=8 --shares=0,50,100 --plot=mix.png sim:linear > /dev/null
	"$aiobench" mix --runtime=40 --depth=8 --scans --plot=scans.svg sim:linear > /dev/null
	for f in run sweep mix; do
		[ "$(head -c 4 $f.png | tail -c 3)" = PNG ]
	done
	grep -q "</svg>" run.svg
	grep -q "it's b" run.svg || grep -q "it&#39;s b" run.svg
	grep -q "</svg>" scans.svg
}

@test "a plot needs gnuplot and a file name with a known format" {
	run -2 "$aiobench" run --plot=x.jpg sim:linear
	[[ $output == *"does not end in .png, .svg or .pdf"* ]]
	mkdir empty
	run -2 env PATH="$PWD/empty" "$aiobench" run --runtime=1 --plot=x.png sim:linear
	[ "$output" = "aiobench: --plot needs gnuplot, in Debian the package gnuplot-nox: No such file or directory" ]
	printf '#!/bin/sh\nexit 1\n' > empty/gnuplot
	chmod +x empty/gnuplot
	run -2 env PATH="$PWD/empty" "$aiobench" run --runtime=1 --plot=x.png sim:linear
	[ "$output" = "aiobench: --plot: gnuplot does not work" ]
	[ ! -e x.png ]
	run -2 "$aiobench" compare --plot=x.png a b
	[[ $output == *"aiobench compare: unrecognized option '--plot=x.png'"* ]]
}
