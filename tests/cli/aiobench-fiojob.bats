#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
. "$BATS_TEST_DIRNAME/suite.bash"

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
	[[ $output == *"absent: No such file or directory, and no size to create it with" ]]
	run -2 "$aiobench" run --fio-job=j.fio --bs=8K sim:linear
	[[ $output == *"--rw, --bs, --class and similar options cannot be used with it"* ]]
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
	printf '[j]\nrw=randread\nsize=1m\nexit_what=all\nverify=crc32c # all of it\nruntime=${T}\n' > j.fio
	unset T
	run -2 "$aiobench" run --fio-job=j.fio sim:linear
	[[ $output == *"j.fio:4: not understood: "*exit_what*": is not supported"* ]]
	[[ $output == *"j.fio:5: not understood: "*verify=crc32c*": is not 0 or none: others are not supported"* ]]
	[[ $output == *"j.fio:6: not understood: "*"the variable T is not set in the environment"* ]]
	[[ $output == *"3 of its lines not understood"* ]]
	run -0 "$aiobench" run --fio-job=j.fio --fio-job-ignore sim:linear
	[[ $output == *"j.fio:4: not understood"* && $output == *"j          default"* ]]
}

@test "a rate that limits reads and writes apart is refused" {
	# fio 3.33 issues 100 reads and 100 writes per second.
	printf '[j]\nrw=randrw\nrate_iops=100\nsize=1m\n' > j.fio
	run -2 "$aiobench" run --fio-job=j.fio sim:linear
	[[ $output == *"j.fio:1: not understood: "*"rate and rate_iops limit reads and writes apart in fio"* ]]
}

@test "a rate in bytes limits the requests" {
	printf '[j]\nrate=400k\nbs=8k\nsize=16m\nruntime=2\n' > j.fio
	run -0 "$aiobench" run --fio-job=j.fio --stats=r.json sim:linear
	requests=$(all r.json)
	[ "$requests" -ge 99 ]
	[ "$requests" -le 101 ]
}

@test "values that cannot be kept are refused with the line of the job" {
	for line in 'loops=2:loops needs direct=1 or invalidate=0' 'filesize=32k:filesize with another size' \
		'bssplit=4k/50*8k/50:is not supported' 'verify=crc32c:is not 0 or none' 'startdelay=5:is not 0 or none' \
		'nrfiles=2:is not 1'; do
		key=${line%%:*}
		printf '[j]\nsize=64k\n%s\n' "${key/\*/:}" > j.fio
		run -2 "$aiobench" run --fio-job=j.fio sim:linear
		[[ $output == *"j.fio:"[13]": not understood: "*"${line#*:}"* ]]
	done
}

@test "an offset in percent begins there, and needs a file" {
	head -c 1M /dev/zero > data
	printf '[j]\nfilename=data\noffset=33%%\nsize=64k\n' > j.fio
	run -0 "$aiobench" run --fio-job=j.fio --trace=t
	[ "$(grep '^R' t | awk '{ print $3 }' | sort -n | head -n 1)" = 348160 ]
	rm data
	run -2 "$aiobench" run --fio-job=j.fio
	[[ $output == *"data: No such file or directory, and no size to create it with"* ]]
	[ ! -e data ]
}

@test "without leave to create files a missing one is an error" {
	printf '[j]\nfilename=absent\nsize=64k\nallow_file_create=0\n' > j.fio
	run -2 "$aiobench" run --fio-job=j.fio
	[[ $output == *"absent: No such file or directory"* ]]
	[ ! -e absent ]
}

@test "variables of the environment are replaced" {
	head -c 64K /dev/zero > data
	printf '[j]\nfilename=${NAME}ta\nbs=${BS}\n' > j.fio
	NAME=da BS=8k run -0 "$aiobench" run --fio-job=j.fio --stats=r.json
	[ "$(all r.json)" = 8 ]
	BS=8k run -2 "$aiobench" run --fio-job=j.fio
	[[ $output == *"j.fio:2: not understood: "*": the variable NAME is not set in the environment"* ]]
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

@test "a file that is not a job file is refused" {
	run -2 "$aiobench" run --fio-job=absent sim:linear
	[[ $output == *"absent: No such file or directory"* ]]
	echo 'rw=read' > j.fio
	run -2 "$aiobench" run --fio-job=j.fio sim:linear
	[[ $output == *"j.fio: it has no job"* ]]
	printf '[j]\nnumjobs=64\n[k]\n' > j.fio
	run -2 "$aiobench" run --fio-job=j.fio sim:linear
	[[ $output == *"j.fio: more than 64 jobs"* ]]
}

# all REPORT: the requests of all classes, without those of their reads and writes
all() {
	sed -n '/^      "requests": /{N;s/^      "requests": \([0-9]*\),\n *"read_requests": .*/\1/p;}' "$1" | paste -sd ' '
}

# job LINE...: measures this job on data, a file of 1 MiB.
job() {
	[ -e data ] || head -c 1M /dev/zero > data
	printf '[j]\nfilename=data\n' > j.fio
	printf '%s\n' "$@" >> j.fio
	"$aiobench" run --fio-job=j.fio --overwrite --stats=r.json > /dev/null && all r.json
}

@test "a job ends as in fio" {
	# The numbers are those of fio 3.33.
	[ "$(job)" = 256 ]
	[ "$(job runtime=100)" = 256 ]
	[ "$(job time_based)" = 256 ]
	[ "$(job size=256k)" = 64 ]
	[ "$(job size=256k runtime=100)" = 64 ]
	[ "$(job size=50%)" = 128 ]
	[ "$(job size=33%)" = 84 ]
	[ "$(job size=50% offset=64k)" = 128 ]
	[ "$(job size=100% offset=64k)" = 240 ]
	[ "$(job offset=64k)" = 240 ]
	[ "$(job offset=50%)" = 128 ]
	[ "$(job offset=33%)" = 171 ]
	[ "$(job offset=33% bs=64k)" = 10 ]
	[ "$(job offset=33% size=33%)" = 84 ]
	[ "$(job offset=50% size=100%)" = 128 ]
	[ "$(job offset=50% size=64k)" = 16 ]
	[ "$(job io_size=128k)" = 32 ]
	[ "$(job size=256k io_size=1mi)" = 256 ]
	[ "$(job size=50% io_size=1m)" = 256 ]
	[ "$(job size=256k io_size=100k bs=64k rw=randwrite)" = 2 ]
	[ "$(job size=64k rate_iops=1k)" = 16 ]
	[ "$(job size=64k rate=10m)" = 16 ]
	[ "$(job filesize=256k)" = 64 ]
	[ "$(job filesize=66k)" = 17 ]
	[ "$(job filesize=64k offset=16k)" = 12 ]
	[ "$(job filesize=64k io_size=32k)" = 8 ]
	[ "$(job size=64k loops=3 invalidate=0)" = 48 ]
	[ "$(job size=64k loops=3 invalidate=0 rw=randread)" = 48 ]
	[ "$(job size=64k loops=3 invalidate=0 rw=randread norandommap)" = 48 ]
	[ "$(job size=64k bsrange=8k-8k timeout=10 exitall allow_file_create=0)" = 8 ]
	[ "$(job size=64k invalidate=0 buffered=1 verify=0 fsync=0 loops=1)" = 16 ]
}

@test "jobs end one by one, and have offsets of their own" {
	[ "$(job size=256k numjobs=32)" = "$(printf '64 %.0s' {1..31})64" ]
	[ "$(job size=256k numjobs=32 rw=randread ioengine=null)" = "$(printf '64 %.0s' {1..31})64" ]
	printf '[global]\nioengine=null\nfilename=x\n[a]\nsize=64k\n[b]\nsize=1m\n[c]\nsize=1m\nnumjobs=2\n' > j.fio
	run -0 "$aiobench" run --fio-job=j.fio --stats=r.json
	[ "$(all r.json)" = "16 256 256 256" ]
	# A sequential job reads each block once, and so does its clone.
	head -c 64K /dev/zero > small
	printf '[j]\nfilename=small\nnumjobs=2\n' > j.fio
	run -0 "$aiobench" run --fio-job=j.fio --trace=t
	[ "$(grep -c '^R.* 4096 ' t)" -ge 32 ]
}

@test "files are made where there are none" {
	mkdir d
	printf '[j]\ndirectory=d\nsize=64k\nnumjobs=32\n' > j.fio
	run -0 "$aiobench" run --fio-job=j.fio --stats=r.json
	[ "$(all r.json)" = "$(printf '16 %.0s' {1..31})16" ]
	[ "$(stat -c %s d/j.0.0 d/j.31.0)" = $'65536\n65536' ]
	# They are there now: to write to them needs --overwrite.
	sum=$(cat d/* | cksum)
	run -2 "$aiobench" run --fio-job=<(sed 's/size/rw=write\nsize/' j.fio)
	[[ $output == *"its data would be lost"* ]]
	[ "$(cat d/* | cksum)" = "$sum" ]
	printf '[j]\ndirectory=d\nfilename=x\nrw=write\nsize=64k\n[k]\nfilename=d/x\noffset=64k\nsize=64k\n' > j.fio
	run -0 "$aiobench" run --fio-job=j.fio --stats=r.json
	[ "$(stat -c %s d/x)" = 131072 ]
	[ "$(all r.json)" = "16 16" ]
	# Nothing is left if nothing could be measured.
	printf '[j]\nfilename=y\nsize=64k\n[k]\nfilename=nowhere/y\nsize=64k\n' > j.fio
	run -2 "$aiobench" run --fio-job=j.fio
	[[ $output == *"nowhere/y: No such file or directory"* ]]
	[ ! -e y ]
	# sweep and the like create nothing, and do not write to what is there.
	printf '[j]\nfilename=d/x\nrw=write\nsize=64k\n[k]\nfilename=d/x\noffset=64k\nsize=64k\n' > j.fio
	sum=$(cksum < d/x)
	run -2 "$aiobench" sweep --fio-job=j.fio --runtime=1
	[ "$(cksum < d/x)" = "$sum" ]
}

@test "stonewall: jobs run one after the other" {
	head -c 1M /dev/zero > data
	printf '[a]\nfilename=data\nsize=256k\n[b]\nstonewall\nfilename=new\nsize=64k\nnumjobs=32\nruntime=9\n[c]\nruntime=9\nfilename=data\n' > j.fio
	run -0 "$aiobench" run --fio-job=j.fio --stats=r.json --trace=t
	[ "$(all r.1.json)" = 64 ]
	[ "$(all r.2.json)" = "$(printf '16 %.0s' {1..32})256" ]
	[[ -s t.1 && -s t.2 && ! -e r.json && ! -e t ]]
	[[ $output == *$'\na '*$'\nb.0 '*$'\nc '* ]]
	run -2 "$aiobench" sweep --fio-job=j.fio
	[[ $output == *"one after the other"* ]]
	# A file without a target in a later run is refused before the first one.
	printf '[a]\nfilename=data\n[b]\nstonewall\n' > j.fio
	run -2 "$aiobench" run --fio-job=j.fio --stats=r.json
	[[ $output == *"missing target"* ]]
	# The report of one run is not a file of another one.
	printf '[a]\nfilename=data\n[b]\nstonewall\nfilename=s.1.json\n' > j.fio
	echo mine > s.1.json
	run -2 "$aiobench" run --fio-job=j.fio --stats=s.json
	[ "$(cat s.1.json)" = mine ]
	printf '[a]\nfilename=data\n[b]\nstonewall\n' > j.fio
	# From a pipe, too.
	sed -i '$a filename=data' j.fio
	run -0 "$aiobench" run --fio-job=- --stats=s.json < j.fio
	[ "$(all s.1.json) $(all s.2.json)" = "256 256" ]
}

@test "a key that asks for output is refused, group_reporting is the total" {
	head -c 64K /dev/zero > data
	printf '[j]\nfilename=data\nwrite_lat_log=x\n' > j.fio
	run -2 "$aiobench" run --fio-job=j.fio
	[[ $output == *"j.fio:3: not understood: "*write_lat_log=x*": asks for output that aiobench does not write"* ]]
	printf '[j]\nfilename=data\nnumjobs=3\ngroup_reporting\n' > j.fio
	run -0 --separate-stderr "$aiobench" run --fio-job=j.fio --stats=r.json
	[ -z "$stderr" ]
	[ "$(value requests)" = 48 ]
}

@test "ignored keys are noted in one line, a reason is given once" {
	head -c 64K /dev/zero > data
	printf '[global]\ndescription=x\nrandrepeat=0\n[j]\nfilename=data\nthread\ndescription=y\n' > j.fio
	"$aiobench" run --fio-job=j.fio > /dev/null 2> err
	[ "$(cat err)" = "aiobench: j.fio: ignored keys that change nothing here: description, randrepeat, thread" ]
	printf '[j]\nfilename=data\nexit_what=all\ndirect=1\n' > j.fio
	run -2 "$aiobench" run --fio-job=j.fio
	[ "$(grep -c exit_what <<< "$output")" = 1 ]
	run -0 "$aiobench" compare --fio-job=j.fio --fio-job-ignore --a= --b= --runtime=1 sim:linear
	[ "$(grep -c exit_what <<< "$output")" = 1 ]
}
