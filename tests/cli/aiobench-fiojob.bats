#!/usr/bin/env bats
# SPDX-License-Identifier: MIT

bats_require_minimum_version 1.5.0
load ../../scripts/needs

setup()
{
	aiobench=${AIOBENCH:-$BATS_TEST_DIRNAME/../../build/bin/aiobench}
	cd "$BATS_TEST_TMPDIR" || return
}

value() { sed -n "s/.*\"$1\": \([^,]*\),\{0,1\}\$/\1/p" "${2:-r.json}" | head -n 1; }

@test "a job file defines the load" {
	cat > j.fio <<-'E'
		; two jobs
		[global]
		filename=data
		size=1m
		ioengine=null
		runtime=100ms
		time_based
		[reads]
		rw=randread
		iodepth=8
		cmdprio_percentage=20
		[log]
		rw=write
		bs=64k
		prioclass=3
	E
	run -0 "$aiobench" run --fio-job=j.fio --stats=r.json
	[[ $output == *"reads.high rt/0"* && $output == *"reads.low  default"* && $output == *"log        idle"* ]]
	[ "$(value engine)" = '"null"' ]
	[ "$(value runtime_s)" = 0.1 ]
	[ "$(value direct)" = false ]
}

@test "options after it take precedence, and a target replaces its files" {
	printf '[j]\nrw=randread\nbs=16k\nioengine=libaio\niodepth=4\nruntime=1h\ntime_based\nfilename=absent\n' > j.fio
	run -0 "$aiobench" run --fio-job=j.fio --runtime=20 --stats=r.json sim:linear,merge=no
	[ "$(value elapsed_s)" = 20.0 ]
	[ "$(value depth_mean)" = 4.0 ]
	run -2 "$aiobench" run --fio-job=j.fio
	[[ $output == *"absent: No such file or directory" ]]
	run -2 "$aiobench" run --fio-job=j.fio --bs=8K sim:linear
	[[ $output == *"--rw, --bs, --class and the like do not go with it"* ]]
}

@test "pictures name the target, wherever it comes from" {
	needs gnuplot
	printf '[j]\nioengine=null\nruntime=100ms\ntime_based\nsize=1m\nfilename=from-the-job\n' > j.fio
	run -0 "$aiobench" run --fio-job=j.fio --plot=p.svg
	grep -q from-the-job p.svg
	echo 'R a 0 4096 0 0 10 4096' > t.trace
	run -0 "$aiobench" replay --plot=p.svg t.trace sim:linear
	grep -q sim:linear p.svg
}

@test "lines that are not understood are reported with their numbers and stop it" {
	printf '[j]\nrw=randread\nsize=1m\nstonewall\nverify=crc32c # all of it\nruntime=${T}\n' > j.fio
	run -2 "$aiobench" run --fio-job=j.fio sim:linear
	[[ $output == *"j.fio:4: not understood: stonewall: is not known here"* ]]
	[[ $output == *"j.fio:5: not understood: verify=crc32c: is not known here"* ]]
	[[ $output == *"j.fio:6: not understood: "*"has a variable"* ]]
	[[ $output == *"3 of its lines not understood"* ]]
	run -0 "$aiobench" run --fio-job=j.fio --fio-job-ignore sim:linear
	[[ $output == *"j.fio:4: not understood"* && $output == *"j          default"* ]]
}

@test "data are as safe as without it" {
	printf '[j]\nrw=randwrite\nsize=64k\nfilename=data\n' > j.fio
	head -c 64K /dev/zero > data
	run -2 "$aiobench" run --fio-job=j.fio
	[[ $output == *"its data would be lost"* ]]
	cmp data <(head -c 64K /dev/zero)
	run -0 "$aiobench" run --fio-job=j.fio --overwrite --stats=r.json
	[ "$(value requests)" = 16 ]
	rm data
	run -0 "$aiobench" run --fio-job=j.fio --create --remove --stats=r.json
	[ "$(value requests)" = 16 ]
}

@test "a file that is no job file is refused" {
	run -2 "$aiobench" run --fio-job=absent sim:linear
	[[ $output == *"absent: No such file or directory"* ]]
	echo 'rw=read' > j.fio
	run -2 "$aiobench" run --fio-job=j.fio sim:linear
	[[ $output == *"j.fio: there is no job in it"* ]]
	printf '[j]\nnumjobs=16\n[k]\n' > j.fio
	run -2 "$aiobench" run --fio-job=j.fio sim:linear
	[[ $output == *"more than 16 jobs"* ]]
}
