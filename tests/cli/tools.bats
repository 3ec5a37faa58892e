#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
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

# swapped WORD: two letters in its middle change places.
swapped()
{
	local i

	for ((i = ${#1} / 2; ; i--)); do
		[ "${1:i-1:1}" = "${1:i:1}" ] || break
	done
	printf '%s%s%s%s\n' "${1:0:i-1}" "${1:i:1}" "${1:i-1:1}" "${1:i+1}"
}

# means TOOL COMMAND ARGUMENT NAME: the tool refuses the argument, and suggests the name.
means()
{
	local status=2

	[ "${1##*/}" != xjoin ] || status=1
	run -$status "$1" ${2:+"$2"} "$3"
	[ "${lines[1]}" = "Did you mean '$4'?" ] || { echo "$*: $output"; return 1; }
}

@test "a misspelt command, option or value: each tool suggests the nearest name" {
	local tool command name

	for tool in "$bin"/*; do
		for command in '' $("$tool" --option-table | sed -n 's/^C\t\([a-z]*\).*/\1/p'); do
			[ -z "$command" ] || means "$tool" '' "$(swapped "$command")" "$command"
			name=$("$tool" $command --option-table |
				awk -F'\t' '$1 == "O" && length($3) > 4 && !n++ { print $3 }')
			means "$tool" "$command" "--$(swapped "$name")=1" "--$name"
		done
	done
	while read -r tool command option value; do
		[ "$command" != - ] || command=
		means "$bin/$tool" "$command" "$option=$(swapped "$value")" "$value"
	done <<-'T'
		aiobench run --engine libaio
		blockseq - --order submit
		dbmbench run --counters auto
		diskprobe - --progress always
		mmap-cube create --mapping naive
		xgen - --order uniform
		xindex lookup --engine libaio
		xjoin - --type semi
		xsort - --readahead forecast
		xtable load --layout pax
	T
	means "$bin/xtable" load --layout=paxx pax
	means "$bin/xgen" '' linse lines
	run -2 "$bin/xtable" load --where=x t
	[ "${lines[1]}" = "--where is an option of scan, update, delete" ]
	run -2 "$bin/xsort" --qqq
	[[ $output != *"Did you mean"* ]]
	run -2 "$bin/xindex" qqq
	[[ $output != *"Did you mean"* ]]
	run -2 "$bin/aiobench" run --iodepth_batch_c=2
	[[ $output == *"is ambiguous"* && $output != *"Did you mean"* ]]
}

@test "--progress: aiobench and xgen show it as asked" {
	cd "$BATS_TEST_TMPDIR"
	"$bin/xgen" lines --bytes=4M --progress=always -o out 2>err
	grep -q 'writing, 1.0 of 4.2 MB' err
	"$bin/xgen" lines --bytes=4M -o same 2>err
	[ ! -s err ]
	cmp out same
	"$bin/aiobench" run --runtime=0.6 --progress=always sim:linear >out 2>err
	grep -q 'aiobench: 0.5 of 0.6 s' err
	"$bin/aiobench" run --runtime=0.6 sim:linear 2>err | cmp out -
	[ ! -s err ]
}

@test "--progress: blockseq, xindex and mmap-cube show it as asked, and nothing else" {
	cd "$BATS_TEST_TMPDIR"
	export TERM=xterm
	"$bin/xgen" lines --records=1000 >lines
	"$bin/xsort" -S 1M --trace=trace lines >/dev/null
	seq 0 255 | awk '{ print $1 "," $1 "," $1 }' >points
	"$bin/mmap-cube" create grid --dims 256x256 --dtype u8 2>err
	"$bin/mmap-cube" create set --points --dims 256x256 --dtype u8 2>err
	head -c 65536 /dev/zero >raw
	while read -r shown command; do
		# shellcheck disable=SC2086
		"$bin/"$command --progress=always >out 2>err || cat err
		tr '\r' '\n' <err >drawn
		grep -q "^$shown" drawn
		sed '$d' drawn | grep -q .
		# shellcheck disable=SC2086
		"$bin/"$command 2>err >same
		run ! grep "$shown" err
		cmp out same
	done <<-'T'
		reading:.0.% blockseq trace
		reading,.0.0.MB xindex build -o index lines
		reading.the.index,.0.0.MB xindex check index
		cells,.0.0.MB mmap-cube load grid raw
		reading,.0.0.MB mmap-cube load grid points --format csv
		cells,.0.0.MB mmap-cube export grid -o copy
		cells,.0.0.MB mmap-cube check grid
		reading,.0.0.MB mmap-cube load set points --format csv
		reading,.0.0.MB mmap-cube reorganise set
		cells,.0.0.MB mmap-cube check set
	T
	run -2 "$bin/xindex" lookup --progress index 1
}

@test "--stats is text without a file, and JSON with - or a file" {
	local tool options

	cd "$BATS_TEST_TMPDIR"
	seq 99 >in
	printf 'a\n1\n2\n' >table
	"$bin/xtable" load --header t table
	"$bin/xindex" build -k1 -o index in
	"$bin/aiobench" run --io_size=64K --trace=trace sim:linear >/dev/null
	"$bin/mmap-cube" create --dims=4x4 cube
	while read -r tool options; do
		# shellcheck disable=SC2086 # words are wanted
		run -0 --separate-stderr "$bin/$tool" ${options/S/--stats}
		# shellcheck disable=SC2154 # run sets it
		[[ $stderr =~ (^|$'\n')(result|total|data|config)[[:space:]] && $stderr != *'{'* ]]
		# shellcheck disable=SC2086
		run -0 --separate-stderr "$bin/$tool" ${options/S/--stats=-}
		[[ $stderr =~ ^\{[[:space:]]*\"schema\":\ *\"spindle ]]
	done <<-'T'
		aiobench run --io_size=64K S sim:linear
		blockseq S trace
		mmap-cube range S cube
		xindex lookup S index 5
		xjoin S --algorithm=hybrid in in
		xsort S in
		xtable scan S t
	T
}

@test "former names of options are accepted, and not in --help" {
	local tool command option

	cd "$BATS_TEST_TMPDIR"
	seq 9 | "$bin/xsort" -nr --top=1 | cmp - <(echo 9)
	"$bin/aiobench" run --depth=3 --seed=4 --io_size=64K sim:linear >new
	"$bin/aiobench" run --iodepth=3 --randseed=4 --io_size=64K sim:linear >old
	cmp old new
	while read -r tool command option; do
		[ "$command" != - ] || command=
		run -2 "$bin/$tool" $command "--$option=q"
		[[ ${lines[0]} == *"--$option"* && $output != *unrecognized* ]]
		"$bin/$tool" $command --help >help
		run -1 grep -e "--$option\\>" help
	done <<-'T'
		aiobench run iodepth
		aiobench run ioengine
		aiobench run randseed
		aiobench policy crowd
		aiobench policy room
		diskprobe - overwrite
		mmap-cube explain places
		xsort - top
	T
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
			diskprobe --plot=x d|--plot argument <x> does not end in
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

# option_tables: TOOL, COMMAND and the row of each option that names files or folders.
option_tables()
{
	local path tool command

	for path in "$bin"/*; do
		tool=${path##*/}
		"$path" --option-table >table
		for command in $(awk -F'\t' '$1 == "C" { print $2 }' table; grep -q ^C table || echo .); do
			{ [ "$command" = . ] && cat table || "$path" "$command" --option-table; } |
				awk -F'\t' -v tool="$tool" -v command="$command" '$1 == "O" && !$7 &&
					($4 ~ /^(FILE|DIR|INDEX|N\|PATH)/ || $3 == "files0-from") && $4 != "FILENUM" &&
					!($3 == "output" && $4 == "FILE") {
						print tool, command, "--" $3 "=-", $5 }'
		done
	done | sort -u -k1,1 -k3
}

# Options with a standard stream as -, as --output=FILE is everywhere; tests below use each.
standard=' aiobench:fio-job diskprobe:geometry mmap-cube:from mmap-cube:geometry
	mmap-cube:workload xgroup:geometry xindex:keys xjoin:geometry
	xsort:files0-from xsort:geometry xsort:random-source xsort:split xtable:from
	xtable:geometry xtable:keys xtable:schema xtable:workload '

@test "-: each option that names a file has a standard stream for it, or refuses it" {
	local tool command option optional key status refused=0

	cd "$BATS_TEST_TMPDIR"
	option_tables >rows
	[ "$(wc -l <rows)" -gt 60 ]
	while read -r tool command option optional; do
		key=${option%=*} key=$tool:${key#--}
		[ "$optional" = 0 ] && [[ ! $standard =~ [[:space:]]"$key"[[:space:]] ]] || continue
		[ "$command" != . ] || command=
		case $key in
		*:volumes) continue ;; # below
		xjoin:then) option=--then=x,left=1.1,key=1,index=- ;;
		esac
		status=0
		# shellcheck disable=SC2086 # no command is no word
		"$bin/$tool" $command "$option" >out 2>err </dev/null || status=$?
		[ "$status" = 2 ] || [ "$tool:$status" = xjoin:1 ] || { echo "$key: status $status"; false; }
		grep -q 'not a standard stream.* \./- for a file called -$' err || { echo "$key"; cat err; false; }
		[ ! -s out ]
		[ "$(wc -l <err)" = 1 ]
		[ ! -e ./- ]
		refused=$((refused + 1))
	done <rows
	[ "$refused" -gt 25 ]
}

@test "-: operands that are accessed at any offset refuse it" {
	local command

	cd "$BATS_TEST_TMPDIR"
	: >in
	while read -r command; do
		# shellcheck disable=SC2086
		run -2 "$bin"/$command <in
		[[ $output = *": -: "*" not a standard stream: give a name, or ./- for a file called -" ]] ||
			{ echo "$command: $output"; false; }
		[ ! -e ./- ]
	done <<-'T'
		xindex lookup - x
		xindex range -
		xindex stat -
		xindex check -
		mmap-cube create - --dims=2x2
		mmap-cube load - in
		mmap-cube info -
		mmap-cube export -
		mmap-cube explain -
		xtable load - in
		xtable load --csv - -
		xtable append -
		xtable scan -
		xtable get - 1
		xtable update - --set=x=1 1
		xtable convert in -
		xtable convert - out
		xtable run --workload=in x -
		xtable explain -
		xtable create --no-data -
		aiobench run in -
		aiobench run - --create --size=4K
		aiobench replay in -
		aiobench watch -
		aiobench preflight -
		aiobench policy -
		diskprobe -
	T
	run -2 "$bin/xindex" build -o x -
	[ "$output" = 'xindex: -: the source of an index must be a regular file: lookups read it' ]
	run -2 "$bin/mmap-cube" create c --dims=2x2 --volumes=x,-
	run -2 "$bin/xtable" load t in --volumes=x,-
	run -2 "$bin/mmap-cube" create c --from=-
	[ "$(echo *)" = in ]
}

@test "-: options and operands read standard input, or write standard output" {
	cd "$BATS_TEST_TMPDIR"
	printf 'b\na\n' >in
	printf 'a\nb\n' >sorted
	for output in '-o -' -o- --output=-; do
		# shellcheck disable=SC2086
		"$bin/xsort" $output in | cmp - sorted
		# shellcheck disable=SC2086
		[ "$("$bin/xgen" lines -n 3 $output | wc -l)" = 3 ]
	done
	[ "$("$bin/xjoin" --output=- in sorted | sort)" = $'a\nb' ]
	printf 'sorted\0' | "$bin/xsort" --files0-from=- | cmp - sorted
	echo b | "$bin/xsort" --split=- -o p%d in
	[ "$(cat p0)$(cat p1)" = ab ]
	head -c 100000 /dev/zero | "$bin/xsort" -R --random-source=- in >x
	"$bin/xsort" -R --random-source=<(head -c 100000 /dev/zero) in | cmp - x
	"$bin/xindex" build -o ix sorted
	[ "$(echo a | "$bin/xindex" lookup ix --keys=-)" = a ]
	"$bin/mmap-cube" create c --dims=2x2 2>err
	printf '0,1,7\n' | "$bin/mmap-cube" load c - --format=csv
	"$bin/mmap-cube" export c >x
	"$bin/mmap-cube" export c -o - | cmp - x
	"$bin/mmap-cube" range c --output=- | cmp - x
	echo 'beam 1' | "$bin/mmap-cube" explain c --workload=- | grep -q multimap
	printf 'k i32\nv i32\n' | "$bin/xtable" load t --csv --schema=- <(printf '1,2\n')
	printf '3,4\n' | "$bin/xtable" append t -
	printf 'k,v\n1,9\n' | "$bin/xtable" update t --by=k --from=-
	[ "$(echo 0 | "$bin/xtable" get t --keys=-)" = 1,9 ]
	echo 'scan k' | "$bin/xtable" explain t --workload=- | grep -q nsm
	printf '[j]\nfilename=in\nrw=read\nsize=2\nbs=2\n' >job
	printf '[j]\nwrong=1\n' | "$bin/aiobench" run --fio-job=- 2>&1 | grep -q '^aiobench: -:2: '
	echo '{}' >r
	run -2 "$bin/xsort" --geometry=- in <r
	[[ $output = 'xsort: /dev/stdin: '* ]]
	run -2 "$bin/xgroup" --geometry=- in <r
	[[ $output = 'xgroup: /dev/stdin: '* ]]
	run -1 "$bin/xjoin" --geometry=- in in <r
	[[ $output = 'xjoin: /dev/stdin: '* ]]
	run -2 "$bin/diskprobe" --geometry=- tracks 1 <r
	[[ $output = 'diskprobe: /dev/stdin: '* ]]
	run -2 "$bin/aiobench" compare r - <r
	[[ $output = *': r: '* ]]
	[ ! -e ./- ]
}

@test "a byte order mark at the beginning of a text is skipped" {
	local mark=$'\xef\xbb\xbf'

	marked() { { printf %s "$mark"; cat "$1"; } >"$1.m"; }
	cd "$BATS_TEST_TMPDIR"
	printf '# spindle-trace/1\nR i 0 4096 0 0 10 4096\n' >trace
	printf '[j]\nwrong=1\n' >job
	echo 'beam 1' >queries
	echo '{}' >json
	printf 'k,v\n1,2\n' >csv
	for file in trace job queries json csv; do marked $file; done
	"$bin/blockseq" trace.m >out
	"$bin/blockseq" trace | cmp - out
	run ! "$bin/aiobench" run --fio-job=job.m
	[[ $output = 'aiobench: job.m:2: '* ]]
	"$bin/mmap-cube" create c --dims=2x2 2>err
	"$bin/mmap-cube" explain c --workload=queries.m | grep -q multimap
	"$bin/mmap-cube" explain c --workload=- <queries.m | grep -q multimap
	"$bin/mmap-cube" load c --format=csv - < <(printf '%s0,1,7\n' "$mark")
	for command in 'xsort --geometry=json.m csv' 'xsort --volume=sim:./json.m csv' \
		'aiobench compare json.m json'; do
		# shellcheck disable=SC2086
		run -2 "$bin"/$command
		[[ $output != *"expected near"* ]]
		[[ $output = *json.m* ]]
	done
	"$bin/xtable" load t --csv --header csv.m 2>err
	printf '%s0\n' "$mark" | "$bin/xtable" get t --keys=- | grep -qx 1,2
	printf '%sk i32\nv i32\n' "$mark" | "$bin/xtable" load t2 --csv --header --schema=- csv
	# lines with a header: the mark begins the result, and is not in a name
	tr , '\t' <csv >tsv
	marked tsv
	"$bin/xsort" -t$'\t' --header -k v tsv.m tsv | cmp - <(cat tsv.m; tail -n 1 tsv)
	[ "$("$bin/xjoin" -t$'\t' --header -j k tsv.m tsv | tail -n 1)" = $'1\t2\t2' ]
	"$bin/xindex" build -t$'\t' --header -k k -o ix tsv.m
	[ "$("$bin/xindex" lookup ix 1)" = $'1\t2' ]
	[ "$(printf '%s1\n' "$mark" | "$bin/xindex" lookup ix --keys=-)" = $'1\t2' ]
	# the mark of a second file does not get into the header of the result
	printf '%sa,b\n1,2\n' "$mark" >first.m
	printf '%sa,c\n1,3\n' "$mark" >second.m
	"$bin/xjoin" --header -t, first.m second.m | cmp - <(printf '%sa,b,c\n1,2,3\n' "$mark")
	# without a header, lines are bytes, as for GNU sort
	"$bin/xsort" <csv.m | cmp - <(LC_ALL=C sort <csv.m)
}

@test "standard input is an input only once" {
	local command status

	cd "$BATS_TEST_TMPDIR"
	printf 'a\n' >in
	"$bin/xtable" load t in
	"$bin/mmap-cube" create c --dims=2x2 2>err
	while read -r command; do
		status=0
		# shellcheck disable=SC2086
		"$bin"/$command 2>err >out < <(cat in) || status=$?
		[ "$status" = 2 ] || [ "${command%% *}:$status" = xjoin:1 ] || { echo "$command: $status"; false; }
		grep -qE 'standard input (can be read only once|cannot be both the splitters)|cannot be standard input' err ||
			{ echo "$command"; cat err; false; }
		[ ! -s out ]
	done <<-'T'
		xsort --split=- -o p%d
		xjoin - -
		xjoin - /dev/stdin
		xjoin /dev/stdin /dev/stdin
		xjoin --then=-,left=1.1,key=1 - in
		mmap-cube explain c --workload=- --geometry=-
		xtable load t2 - -
		xtable load t2 --schema=-
		xtable append t - /dev/stdin
		xtable schema - -
		blockseq --compare - -
		aiobench compare - -
		dbmbench compare - /dev/stdin
	T
	[ ! -e t2 ]
	# GNU sort finds the end of standard input the second time
	for command in "- -" "/dev/stdin -" "- in -" "-m - in /dev/fd/0"; do
		# shellcheck disable=SC2086
		printf 'b\nc\n' | "$bin/xsort" $command | cmp - <(printf 'b\nc\n' | LC_ALL=C sort $command)
	done
}
