#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# vdisk in real time.  Tests that need FUSE are skipped without it; no test depends on the
# punctuality of this computer.
. "$BATS_TEST_DIRNAME/suite.bash"
load keys

setup()
{
	[ -x "$vdisk" ] || skip "needs libfuse3, without which vdisk is not built"
	begin_test
	mkdir m
	pid=
}

teardown()
{
	[ -z "$pid" ] || stop
}

fuse_needed()
{
	[ -r /dev/fuse ] && [ -w /dev/fuse ] || skip "/dev/fuse cannot be used here"
	[ "$(id -u)" -eq 0 ] || needs fusermount3
}

# start ARGUMENT...: waits until the device is ready; its name is in $dev.
start()
{
	local i

	rm -f out err
	"$vdisk" "$@" >out 2>err 3>&- &
	pid=$!
	for ((i = 0; i < 200; i++)); do
		[ -s out ] && break
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.05
	done
	if ! [ -s out ]; then
		wait "$pid" || true
		pid=
		grep -qiE 'mount|not permitted|fuse' err && skip "FUSE may not be used here: $(head -n 1 err)"
		cat err
		return 1
	fi
	dev=$(<out)
}

# Ends it; its status. A second signal ends it whatever it waits for.
stop()
{
	local i status=0

	kill -TERM "$pid" 2>/dev/null || true
	for ((i = 0; i < 100; i++)); do
		kill -0 "$pid" 2>/dev/null || break
		[ "$i" -ne 60 ] || kill -TERM "$pid"
		sleep 0.05
	done
	wait "$pid" || status=$?
	pid=
	return "$status"
}

# Has it ended by itself, and well?
ended()
{
	local i

	for ((i = 0; i < 100; i++)); do
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.05
	done
	[ "$i" -lt 100 ] && wait "$pid" && pid=
}

# value KEY: a number of the status.
value()
{
	sed -n "s/^  \"$1\": \([0-9.]*\),*\$/\1/p" m/status
}

@test "--help and --version are answered on standard output" {
	run -0 --separate-stderr "$vdisk" --help
	[[ $output == *--dilation* && -z $stderr ]]
	run -0 "$vdisk" --version
	[[ $output == "vdisk (Spindle) "* ]]
}

@test "invalid options are refused before anything is mounted" {
	run -2 "$vdisk"
	[[ $output == *"missing model"* ]]
	run -2 "$vdisk" --size=8GB tiny m
	[[ $output == *"argument '8GB': valid sizes are such as 512b, 4K, "* ]]
	run -2 "$vdisk" tiny
	[[ $output == *"missing folder"* ]]
	run -2 "$vdisk" ramdisk m
	[[ $output == *ramdisk* && $output == *atlas10k3-like* ]]
	run -2 "$vdisk" tiny,sched=best m
	[[ $output == *best* && $output == *clook* ]]
	run -2 "$vdisk" tiny,cache=64M m
	[[ $output == *cache=64M* && $output == *"sched, window, merge"* ]]
	run -2 "$vdisk" tiny none
	[ "$output" = "vdisk: none: No such file or directory" ]
	touch file
	run -2 "$vdisk" tiny file
	[ "$output" = "vdisk: file: Not a directory" ]
	run -2 "$vdisk" tiny .
	[ "$output" = "vdisk: .: Directory not empty" ]
	run -2 "$vdisk" --size=1M tiny m
	[[ $output == *"only 709632 bytes"* ]]
	run -2 "$vdisk" --size=1000 tiny m
	[[ $output == *"blocks of 512 bytes"* ]]
	run -2 "$vdisk" --dilation=0 tiny m
	[[ $output == *dilation* ]]
	run -2 "$vdisk" --backing=/dev/null tiny m
	[[ $output == *"not a regular file"* ]]
	run -2 bash -c "ulimit -f 8; '$vdisk' --backing=image tiny m"
	[ "$output" = "vdisk: image: File too large" ]
	[ -z "$(ls m)" ]
}

@test "MEMS storage is a disk, too" {
	fuse_needed
	start --floor=0 --size=1M mems-thesis m
	grep -q '"kind": "mems"' m/status
	seq 20000 | head -c 65536 > data
	dd if=data of=m/disk bs=8K conv=notrunc status=none
	cmp -n 65536 data m/disk
	stop
}

@test "written data is read back, through the cache and bypassing it" {
	fuse_needed
	start --floor=0 tiny m
	[ "$dev" = "$PWD/m/disk" ]
	[ "$(stat -c %s m/disk)" = 709632 ]
	cp m/status status
	has_keys status
	head -c 709632 /dev/urandom >data
	dd if=data of=m/disk bs=64K conv=fsync status=none
	cmp data m/disk
	dd if=m/disk of=copy bs=9K iflag=direct status=none
	cmp data copy
	printf piece | dd of=m/disk bs=1 seek=100000 conv=notrunc status=none
	printf piece | dd of=data bs=1 seek=100000 conv=notrunc status=none
	cmp data m/disk
	stop
	[ -z "$(ls m)" ]
}

@test "its size does not change, and nothing can be written beyond its end" {
	fuse_needed
	start --floor=0 --size=64K tiny m
	: >m/disk
	[ "$(stat -c %s m/disk)" = 65536 ]
	run ! truncate -s 4096 m/disk
	run ! dd if=/dev/zero of=m/disk bs=4K count=17 conv=notrunc oflag=direct
	[[ $output == *"No space left"* ]]
	[ "$(head -c 100000 m/disk | wc -c)" = 65536 ]
	run ! touch m/other
	run ! rm m/disk
}

@test "a backing file keeps the bytes, and one vdisk at a time uses it" {
	fuse_needed
	start --floor=0 --backing=image --size=128K tiny m
	dd if=/dev/zero bs=64K count=1 status=none | tr '\0' x | dd of=m/disk bs=64K conv=fsync status=none
	mkdir other
	run -2 "$vdisk" --backing=image tiny other
	[ "$output" = "vdisk: image: Device or resource busy" ]
	run -2 "$vdisk" tiny m
	[ "$output" = "vdisk: m: Device or resource busy" ]
	stop
	[ "$(stat -c %s image)" = 131072 ]
	[ "$(tr -d '\0' <image | wc -c)" = 65536 ]
	start --floor=0 --backing=image --size=128K tiny m
	cmp image m/disk
}

@test "the status counts the requests, and is JSON" {
	needs jq
	fuse_needed
	start --floor=0 --dilation=2 "tiny,sched=clook" m
	dd if=m/disk of=/dev/null bs=4K count=5 iflag=direct status=none
	dd if=/dev/zero of=m/disk bs=8K count=2 oflag=direct conv=notrunc,fsync status=none
	cat m/status
	[ "$(value reads)" = 5 ]
	[ "$(value read_bytes)" = 20480 ]
	[ "$(value writes)" = 2 ]
	[ "$(value write_bytes)" = 16384 ]
	[ "$(value flushes)" -ge 1 ]
	[ "$(value outstanding)" = 0 ]
	[ "$(value dilation)" = 2 ]
	grep -q '"spec": "tiny,sched=clook"' m/status
	grep -qE '"late_us": \{"p50": [0-9.]+, "p99": [0-9.]+, "max": [0-9.]+\}' m/status
	jq -e .dilation m/status >/dev/null
}

@test "vdisk ends when another program unmounts it" {
	fuse_needed
	start --floor=0 tiny m
	if [ "$(id -u)" -eq 0 ]; then umount m; else fusermount3 -u m; fi
	ended
}

@test "vdisk ends well if the folder above was renamed" {
	fuse_needed
	mkdir -p a/m
	start linear a/m
	mv a b
	[ "$(stat -c %s b/m/disk)" -gt 0 ]
	stop
	[ -z "$(ls b/m)" ]
	rmdir b/m
}

@test "a backing file in the folder to mount on is refused" {
	run -2 "$vdisk" --backing=m/image linear m
	[[ $output == *'m/image: is inside the folder to mount on'* ]]
	[ -z "$(ls m)" ]
	ln -s m/image link
	run -2 "$vdisk" --backing=link linear m
	[[ $output == *'is inside the folder to mount on'* ]]
	[ -z "$(ls m)" ]
}

@test "a signal waits for its users; a second one does not" {
	fuse_needed
	start --floor=0 tiny m
	exec 4<m/disk
	kill -INT "$pid"
	sleep 0.6
	grep -q "in use" err
	kill -0 "$pid"
	exec 4<&-
	ended
	start --floor=0 tiny m
	exec 4<m/disk
	kill -INT "$pid"
	sleep 0.1
	kill -INT "$pid"
	ended
	exec 4<&-
}

@test "reads take the model's time, if the machine is punctual" {
	fuse_needed
	start atlas10k3-like m
	begin=$(date +%s%N)
	dd if=m/disk of=/dev/null bs=4K count=200 iflag=direct status=none
	end=$(date +%s%N)
	mean=$(sed -n 's/.*"response_us": {"mean": \([0-9.]*\),.*/\1/p' m/status)
	late=$(sed -n 's/.*"late_us".*"p99": \([0-9.]*\),.*/\1/p' m/status)
	awk -v t="$((end - begin))" -v mean="$mean" 'BEGIN {
		printf "# %.1f us each, the model says %.1f\n", t / 200000, mean }' >&3
	awk -v late="$late" 'BEGIN { exit !(late > 500) }' &&
		skip "this computer is not punctual now: one in a hundred answers is $late us late"
	awk -v t="$((end - begin))" -v mean="$mean" 'BEGIN {
		off = t / 200000 / mean
		exit !(off > 0.9 && off < 1.1) }'
}

@test "through a loop device it is a block device" {
	fuse_needed
	[ "$(id -u)" -eq 0 ] || skip "a loop device needs root"
	[ -w /dev/loop-control ] || skip "there are no loop devices here"
	start --floor=0 --loop --size=256K tiny m
	[ -b "$dev" ]
	[ "$(cat "/sys/block/${dev#/dev/}/size")" = 512 ]
	head -c 262144 /dev/urandom >data
	dd if=data of="$dev" bs=64K oflag=direct conv=fsync status=none
	cmp data "$dev"
	grep -q "\"loop\": \"$dev\"" m/status
	stop
	[ ! -e "/sys/block/${dev#/dev/}/loop/backing_file" ]
}

@test "diskprobe reads the file of a drive by sectors" {
	needs jq
	fuse_needed
	start --floor=0 tiny m
	for seconds in 3 10 30 60; do # a slow machine may know nothing after three
		timeout -s TERM $seconds "$diskprobe" "$dev" -o g.json || true
		[ ! -s g.json ] || break
	done >/dev/null 2>&1
	[ "$(jq -r '.block_bytes, .blocks' g.json | tr '\n' ' ')" = "512 1386 " ]
}
