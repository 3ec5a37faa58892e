#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# The state after a put or a load that fails, cubes of old versions, and volumes of older states.
. "$BATS_TEST_DIRNAME/suite.bash"

setup()
{
	begin_test
	dims=(--dims 37x29x11 --dtype u32 --tile 4x4x8 --mapping naive)
	bytes=$((37 * 29 * 11 * 4))
}

# full OPTION...: a complete cube in c, of what is in old.
full()
{
	head -c "$bytes" /dev/urandom > old
	head -c "$bytes" /dev/urandom > new
	"$cube" create c "${dims[@]}" --overwrite "$@"
	"$cube" load c old
}

is_old() { "$cube" export c --verify | cmp - old; }

shim()
{
	shim=$(realpath "$build/tests/shim/failcall.so") || skip "no shim in this build"
}

@test "a put or a deletion that is killed at any call leaves the old element or the new one" {
	shim
	for case in '1 put 5' '3 put 5' '1 delete' '3 delete'; do
		read -r volumes change value <<< "$case"
		# shellcheck disable=SC2206 # none or one
		arguments=("$change" c "20,11,9" $value --engine=sync)
		full --volumes=$volumes --fill 77
		for file in c*; do cp "$file" "kept-$file"; done
		"$cube" "${arguments[@]}"
		"$cube" export c > put
		[ "$("$cube" get c 20,11,9)" = "${value:-77}" ]
		[ "$(cmp -l put old | wc -l)" -le 4 ]
		seen=
		for ((call = 1; call < 99; call++)); do
			for file in kept-*; do cp "$file" "${file#kept-}"; done
			FAILCALL_KILL=1 FAILCALL_AT=$call FAILCALL_CALLS='pwrite write fsync' FAILCALL_FD_MIN=3 LD_PRELOAD=$shim \
				"$cube" "${arguments[@]}" && break
			run -0 "$cube" check c
			[[ $output == *" 0 damaged"* ]]
			"$cube" export c --verify > out
			if cmp out old; then seen+=o; elif cmp out put; then seen+=n; fi
			[ ${#seen} = $call ]
			# Another element is put, in the same extent or elsewhere.
			"$cube" put c $((call % 37)),11,9 7
			[ "$("$cube" get c --verify $((call % 37)),11,9)" = 7 ]
			"$cube" check c
		done
		[[ $seen =~ ^o+n+$ ]]
		rm -f c* kept-*
	done
}

@test "check says that a put was interrupted, and --repair finishes it" {
	shim
	full
	FAILCALL_KILL=1 FAILCALL_AT=3 FAILCALL_CALLS='pwrite' FAILCALL_FD_MIN=3 LD_PRELOAD=$shim \
		"$cube" put c 20,11,9 5 --engine=sync || true
	cp c before
	run -0 "$cube" check c
	[[ $output == *"a put was interrupted, and its element is in the log: check --repair finishes it" ]]
	cmp c before
	[ "$("$cube" get c 20,11,9)" = 5 ]
	run -0 "$cube" check c --repair
	[[ ${lines[0]} == "a put that was interrupted is finished" ]]
	run -0 "$cube" check c
	[ "${#lines[@]}" = 1 ]
	run -0 "$cube" check c --repair
	[ "${#lines[@]}" = 1 ]
	# A log that is torn, or of another time, does not count.
	FAILCALL_KILL=1 FAILCALL_AT=3 FAILCALL_CALLS='pwrite' FAILCALL_FD_MIN=3 LD_PRELOAD=$shim \
		"$cube" put c 1,1,1 7 --engine=sync || true
	place=$(($(od -An -tu4 -j24 -N4 c) * 2 - 8192))
	printf 'torn' | dd of=c bs=1 seek=$((place + 3000)) conv=notrunc status=none
	"$cube" get c --verify 20,11,9
	[[ $("$cube" check c) != *interrupted* ]]
}

@test "a put whose writes fail leaves the old element or the new one" {
	full
	for error in EIO ENOSPC; do
		for nth in 1 2; do
			"$cube" put c 20,11,9 25 --engine=fault:SCOPE=PROCESS,KIND=WRITE,NTH=$nth,ERROR=$error:sync || status=$?
			"$cube" check c
			[ "$("$cube" get c --verify 20,11,9)" = 25 ] || is_old
			"$cube" put c 20,11,9 1
			[ "$("$cube" get c --verify 20,11,9)" = 1 ]
		done
	done
}

@test "--repair writes a damaged superblock again from the other one" {
	full
	"$cube" load c old
	slot=$(od -An -tu4 -j24 -N4 c)
	for at in 50 $((slot + 50)); do
		printf x | dd of=c bs=1 seek=$at conv=notrunc status=none
		run -1 "$cube" check c
		run -0 "$cube" check c --repair
		[[ $output == *"the damaged superblock is written again from the other one"* ]]
		run -0 "$cube" check c
		[ "${#lines[@]}" = 1 ]
		is_old
		"$cube" load c old
	done
	run -2 "$cube" check old --repair
}

@test "a load that fails leaves a complete cube as it was, whatever its input is" {
	for options in '' '--volumes=2' '--mapping=zorder'; do
		# shellcheck disable=SC2086 # none or one
		full $options
		"$cube" export c -o whole.npy
		head -c 40000 whole.npy > cut.npy
		"$cube" export c --format=csv > good.csv
		{ cat good.csv; echo 1,2,3,x; } > bad.csv
		{ cat good.csv; echo 1,2,99,1; } > far.csv
		gzip -c < new > new.packed
		for input in 'cat old new' 'head -c 40000 new' 'true' 'cat new.packed' 'cat cut.npy' 'cat whole.npy new'; do
			run -2 bash -c "$input | '$cube' load c -"
			is_old
			run -2 bash -c "$input > file; '$cube' load c file"
			is_old
		done
		for input in bad.csv far.csv; do
			run -2 "$cube" load c $input -S 20K
			is_old
			run -2 bash -c "cat $input | '$cube' load c - --format=csv -S 20K"
			is_old
			run -2 bash -c "cat $input | '$cube' load c - --format=csv -S 20K --rollup=0:1"
			is_old
		done
		head -c "$bytes" new | "$cube" load c -
		"$cube" export c --verify | cmp - new
		"$cube" load c whole.npy --resume
		is_old
		tail -n +1 good.csv | "$cube" load c - --format=csv -S 20K
		is_old
		"$cube" check c
	done
}

@test "a load that is killed at any call leaves a complete cube as it was, or has loaded all" {
	shim
	full --volumes=2
	for file in c c.1; do cp $file kept-$file; done
	for ((call = 1; call < 99; call++)); do
		for file in c c.1; do cp kept-$file $file; done
		FAILCALL_KILL=1 FAILCALL_AT=$call FAILCALL_CALLS='pwrite write fsync ftruncate' FAILCALL_FD_MIN=3 LD_PRELOAD=$shim \
			"$cube" load c new --engine=sync && break
		"$cube" export c --verify > out
		cmp out old || cmp out new
		"$cube" check c
		"$cube" load c new
		"$cube" export c --verify | cmp - new
	done
	[ $call -gt 10 ]
}

# sums OPTION...: a complete cube of bytes in c, and lines that add to its elements.
sums()
{
	"$cube" create c --dims 37x29x11 --dtype u8 --tile 8x8x8 --mapping naive --overwrite "$@"
	awk 'BEGIN { for (i = 0; i < 37 * 29 * 11; i++) printf "%c", i % 100 + 1 }' > old
	"$cube" load c old
	awk 'BEGIN { for (i = 0; i < 3000; i++) print i % 37 "," i % 29 "," i % 11 ",1" }' > add.csv
}

@test "lines of CSV that are killed at any call leave a complete cube as it was, or are all loaded" {
	shim
	sums --volumes=2
	for option in --format=csv --rollup=0:1; do
		for file in c c.1; do cp $file kept-$file; done
		"$cube" load c add.csv $option
		"$cube" export c --verify > want
		run ! cmp -s want old
		seen=
		for ((call = 1; call < 99; call++)); do
			for file in c c.1; do cp kept-$file $file; done
			FAILCALL_KILL=1 FAILCALL_AT=$call FAILCALL_CALLS='pwrite write fsync ftruncate' FAILCALL_FD_MIN=3 LD_PRELOAD=$shim \
				"$cube" load c add.csv $option --engine=sync && break
			"$cube" check c
			"$cube" export c --verify > out
			if cmp -s out old; then seen+=o; elif cmp -s out want; then seen+=n; fi
			[ ${#seen} = $call ]
		done
		[[ $seen =~ ^o+n+$ ]]
		for file in c c.1; do cp kept-$file $file; done
	done
}

@test "a sum that does not fit, early or late, leaves a complete cube as it was" {
	for options in '' '--volumes=2' '--mapping=zorder'; do
		# shellcheck disable=SC2086 # none or one
		sums $options
		for at in 0,0,0 36,28,10; do
			{ cat add.csv; echo $at,254; echo $at,9; } > over.csv
			for size in 64M 20K; do
				run -2 "$cube" load c over.csv --rollup=0:1 -S $size
				[[ $output == *"the sum of element $at does not fit u8" ]]
				is_old
				run -2 bash -c "cat over.csv | '$cube' load c - --format=csv --rollup=0:1 -S $size"
				is_old
			done
		done
		"$cube" check c
		once=$(stat -c %s c)
		for size in 64M 20K; do
			"$cube" load c old
			"$cube" load c add.csv --rollup=0:1 -S $size
			[ "$(stat -c %s c)" -le "$once" ]
			"$cube" export c --verify --format=csv | awk -F, '
				NR == FNR { add[$1 "," $2 "," $3] += $4; next }
				$4 != (FNR - 1) % 100 + 1 + add[$1 "," $2 "," $3] { exit 1 }' add.csv -
		done
	done
}

@test "CSV is loaded into a cube of several parts, and into one with damage only by a full load" {
	sums
	"$cube" append c --dim=0 --count=6
	"$cube" append c --dim=2 --count=3
	"$cube" export c --format=csv > before.csv
	"$cube" load c add.csv --rollup=0:1 -S 20K
	"$cube" export c --verify --format=csv | awk -F, '
		FILENAME == "add.csv" { add[$1 "," $2 "," $3] += $4; next }
		FILENAME == "before.csv" { old[$1 "," $2 "," $3] = $4; next }
		$4 != old[$1 "," $2 "," $3] + add[$1 "," $2 "," $3] { exit 1 }' add.csv before.csv -
	printf '\377' | dd of=c bs=512 seek="$("$cube" map c 8,8,8)" conv=notrunc status=none
	run -1 "$cube" check c
	cp c damaged
	run -2 "$cube" load c - --format=csv <<< 0,0,0,1
	[[ $output == *"a checksum differs: run check" ]]
	cmp <("$cube" export c) <("$cube" export damaged)
}

@test "where there is no space for a copy CSV is loaded in place, and a roll-up refused" {
	sums
	limit=$((($(stat -c %s c) + 1023) / 1024))
	run -2 bash -c "ulimit -f $limit; '$cube' load c add.csv --rollup=0:1"
	[[ $output == *"a roll-up into a complete cube needs space for a copy of it, which the volumes do not have" ]]
	is_old
	echo 3,4,5,x | cat add.csv - > bad.csv
	run -2 bash -c "ulimit -f $limit; '$cube' load c bad.csv"
	is_old
	"$cube" info c > before
	bash -c "ulimit -f $limit; '$cube' load c add.csv"
	diff before <("$cube" info c)
	[ "$("$cube" get c --verify 36,28,10)" = "$(tail -c 1 old | od -An -tu1 | tr -d ' ')" ]
	[ "$("$cube" get c --verify 5,5,5)" = 1 ]
}

@test "the space of a load does not grow from one to the next, and where there is none it is done in place" {
	full
	once=$(stat -c %s c)
	for ((i = 0; i < 4; i++)); do
		"$cube" load c new
		"$cube" load c old
		is_old
		[ "$(stat -c %s c)" = "$once" ]
	done
	# Files of this length, but no longer.
	run -2 bash -c "ulimit -f $(((once + 1023) / 1024)); cat old new | '$cube' load c -"
	is_old
	bash -c "ulimit -f $(((once + 1023) / 1024)); cat new | '$cube' load c -"
	"$cube" export c --verify | cmp - new
	"$cube" create b "${dims[@]}" --basic-cube 3x4x1
	"$cube" load b old
	"$cube" info b > before
	"$cube" load b new
	diff <(grep -v blocks before) <("$cube" info b | grep -v blocks)
}

@test "cubes of version 2 are read and changed as before" {
	tar xzf "$BATS_TEST_DIRNAME/../golden/cubes-version-2.tar.gz"
	"$cube" export c --format=csv | awk -F, '$3 != $1 + 40 * $2 { exit 1 }'
	for file in c v; do
		[ "$(od -An -tu8 -j8 -N8 $file)" -eq 2 ]
		"$cube" check $file
		"$cube" export $file --verify > data
		"$cube" put $file 3,4 99
		[ "$("$cube" get $file --verify 3,4)" = 99 ]
		head -c 4800 data | "$cube" load $file -
		"$cube" export $file --verify | cmp - data
		run -2 bash -c "cat data data | '$cube' load $file -"
		head -c 1600 data | "$cube" append $file - --dim=1
		"$cube" range $file --hi=40,30 --verify | cmp - data
		[ "$("$cube" get $file 1,31)" = 41 ]
		"$cube" check $file --repair
		[ "$(od -An -tu8 -j8 -N8 $file)" -eq 2 ]
	done
}

@test "a volume of another time, exchanged, or of another cube is refused, under links, too" {
	full --volumes=3
	mkdir there
	mv c.1 there/x
	ln -s there/x c.1
	ln c.2 there/y
	is_old
	cp c c-0; cp there/x x-0
	"$cube" put c 12,0,0 1
	cp c c-1; cp there/x x-1
	cp x-0 there/x
	run -2 "$cube" export c
	[ "$output" = "mmap-cube: c.1: has another state of the cube than c: one of them is an older copy; restore all volumes together" ]
	run -2 "$cube" put c 1,1,1 1
	[ "$output" = "mmap-cube: c.1: has another state of the cube than c: one of them is an older copy; restore all volumes together" ]
	cp x-1 there/x; cp c-0 c
	run -2 "$cube" export c
	[ "$output" = "mmap-cube: c.1: has another state of the cube than c: one of them is an older copy; restore all volumes together" ]
	cp c-1 c
	[ "$("$cube" get c --verify 12,0,0)" = 1 ]
	# As many changes of another copy of all volumes.
	for i in 0 1 2; do cp c.$i kept.$i 2>/dev/null || cp c kept.$i; done
	"$cube" put c 13,0,0 2
	cp there/x x-2
	for i in 1 2; do cp kept.$i c.$i; done
	cp kept.0 c
	"$cube" put c 13,0,0 3
	cp there/x x-1; cp x-2 there/x
	run -2 "$cube" check c
	[ "$output" = "mmap-cube: c.1: has another state of the cube than c: one of them is an older copy; restore all volumes together" ]
	cp x-1 there/x
	for change in 'load c old' 'append c - --dim=2 --count=1' "load c one.csv"; do
		echo 1,1,1,1 > one.csv
		cp there/x x-1
		# shellcheck disable=SC2086 # a command and its options
		head -c $((37 * 29 * 4)) new | "$cube" $change
		cp there/x x-2; cp x-1 there/x
		run -2 "$cube" check c
		[ "$output" = "mmap-cube: c.1: has another state of the cube than c: one of them is an older copy; restore all volumes together" ]
		cp x-2 there/x
		"$cube" check c
	done
	rm c.1
	ln -s c.2 c.1
	run -2 "$cube" info c
	[ "$output" = "mmap-cube: c.1: is volume 2 of the cube, not volume 1; put each volume back under its name" ]
}
