#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# no threads
#
# Properties of every tool.
. "$BATS_TEST_DIRNAME/suite.bash"

setup() { export LC_ALL=C; }

@test "--help, --usage and --version that cannot be written are errors" {
	cd "$BATS_TEST_TMPDIR"
	[ -e /dev/full ] || skip 'no /dev/full'
	for tool in "$bin"/*; do
		name=${tool##*/} status=2
		[ "$name" != xjoin ] || status=1
		for option in --help --usage --version; do
			"$tool" $option >out
			[ -s out ]
			got=0
			"$tool" $option 2>err >/dev/full || got=$?
			[ "$got" -eq "$status" ]
			grep -q "^$name: write error" err
			[ "$(wc -l <err)" -eq 1 ]
		done
	done
}

@test "closed standard descriptors cannot be used by their names" {
	cd "$BATS_TEST_TMPDIR"
	run -2 bash -c "'$bin/xsort' /dev/stdin <&-"
	[ "$output" = 'xsort: read failed: /dev/stdin: Is a directory' ]
	run -1 bash -c "'$bin/xjoin' /dev/stdin /dev/null <&-"
	run -2 bash -c "'$bin/blockseq' /dev/stdin <&-"
	run -2 bash -c "'$bin/xgen' lines -n 9 -o /dev/stdout >&-"
	run -2 bash -c "seq 9 | '$bin/xsort' -o /dev/stdout >&-"
}

@test "--version names the tool and what was built in" {
	local with=FUSE

	[ -x "$bin/vdisk" ] || with=
	for tool in "$bin"/*; do
		run -0 "$tool" --version
		[[ ${lines[0]} =~ ^"${tool##*/}"\ \(Spindle\)\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
		[[ ${lines[1]} == 'Built in: '*io_uring*lz4*zstd*"$with"*locales* ]]
	done
	[ -n "$with" ] || [[ ${lines[1]} != *FUSE* ]]
}

@test "a bad option is the tool's error status" {
	for tool in "$bin"/*; do
		status=2
		[ "${tool##*/}" != xjoin ] || status=1
		run -$status "$tool" --no-such-option
	done
}

@test "--help of every tool and command fits 79 columns, and --usage does" {
	for tool in "$bin"/*; do
		for command in '' $("$tool" --option-table | sed -n 's/^C\t\([a-z]*\).*/\1/p'); do
			for option in --help --usage; do
				"$tool" ${command:+"$command"} $option >"$BATS_TEST_TMPDIR/help"
				run -0 awk 'length > 79' "$BATS_TEST_TMPDIR/help"
				[ -z "$output" ] || { echo "$tool $command $option: $output"; return 1; }
			done
		done
	done
}

@test "all tools quote by the encoding of the locale" {
	local open close encoding

	for encoding in C "' '" C.UTF-8 $'\342\200\230 \342\200\231'; do
		case $encoding in C*) export LC_ALL=$encoding && continue ;; esac
		read -r open close <<<"$encoding"
		while IFS='|' read -r command message; do
			# shellcheck disable=SC2086 # words are wanted
			run "$bin"/$command </dev/null
			message=${message//</$open} message=${message//>/$close}
			[[ ${lines[0]} == *": $message"* ]] || { echo "$command: ${lines[0]}, not $message"; return 1; }
		done <<-'T'
			xsort --fan-in=1x|invalid suffix in --fan-in argument <1x>
			xsort --sort=x|invalid argument <x> for <--sort>
			xsort --csv --record-size=8|options <--csv> and <--record-size> are incompatible
			xjoin -a3 - -|invalid field number: <3>
			xindex x|unknown command: <x>
			xjoin --max-outstanding=0 a b|minimum --max-outstanding argument is <1>
			xtable load --cell=5K t|invalid --cell argument <5K>
			mmap-cube create --dtype=x c|invalid argument <x> for <--dtype>
			mmap-cube create --dims=x c|invalid --dims argument <x>
			aiobench x|unknown command: <x>
			aiobench run --bs=2G f|--bs argument <2G> is not within
			dbmbench x|unknown command: <x>
			diskprobe --plot=x d|--plot argument <x> ends in none
			diskprobe a b|extra operand: <b>
			blockseq a b|extra operand: <b>
			xgen lines x|extra operand: <x>
		T
	done
}

@test "names and reasons: an empty name is quoted, and none is made up" {
	run -2 "$bin/xsort" -c ''
	[ "$output" = "xsort: open failed: '': No such file or directory" ]
	run -2 "$bin/xindex" stat ''
	[ "$output" = "xindex: '': No such file or directory" ]
	run -2 "$bin/mmap-cube" info ''
	[ "$output" = "mmap-cube: '': No such file or directory" ]
	run -2 "$bin/blockseq" ''
	[ "$output" = "blockseq: '': No such file or directory" ]
	run -2 "$bin/diskprobe" ''
	[ "$output" = "diskprobe: '': No such file or directory" ]
	LC_ALL=C.UTF-8 run -1 "$bin/xjoin" - -
	[ "$output" = 'xjoin: both files cannot be standard input' ]
}
