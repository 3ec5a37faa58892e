#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Completions of a TAB: in bash on a terminal, in zsh and fish by their own queries.
# no sanitizer
. "$BATS_TEST_DIRNAME/suite.bash"

setup()
{
	top=$(realpath "$BATS_TEST_DIRNAME/../..")
	made=$BATS_FILE_TMPDIR/made
	begin_test
	touch input-of-one
}

setup_file()
{
	local tool

	for tool in "$bin"/*; do
		"$BATS_TEST_DIRNAME/../../scripts/completions" "$tool" "$BATS_FILE_TMPDIR/made"
	done
}

# typed KEYS: the words of the command when TAB has done its part.
typed()
{
	local tool=${1%% *}

	cat >rc <<-T
		PS1='ready> '
		. '$made/bash/$tool'
		$tool() { printf '<%s>' "\$@"; printf '|\n'; }
	T
	python3 "$BATS_TEST_DIRNAME/type_at_shell.py" bash --noprofile --rcfile rc -i -- "$1" >typed
	words=$(sed -n 's/^\(<.*>\)|$/\1/p' typed)
}

completes() # KEYS WORDS
{
	typed "$1"
	[ "$words" = "$2" ] || { echo "$1: $words, not $2"; cat typed; return 1; }
}

@test "bash: TAB completes options, words of options, commands and files" {
	needs python3
	completes 'xsort --merge-p\t' '<--merge-policy=>'
	completes 'xsort --merge-policy=po\t' '<--merge-policy=polyphase>'
	completes 'xsort --merge-policy po\t' '<--merge-policy><polyphase>'
	completes 'xsort --progress=al\t' '<--progress=always>'
	completes 'xsort -o inp\t' '<-o><input-of-one>'
	completes 'xsort --output=inp\t' '<--output=input-of-one>'
	completes 'xsort --check=sil\tinp\t' '<--check=silent><input-of-one>'
	completes 'aiobench rep\t--runt\t3 inp\t' '<replay><--runtime=3><input-of-one>'
	completes 'xindex look\t--key\tinp\t' '<lookup><--keys=input-of-one>'
	completes 'xgen linei\t--records=7' '<lineitem><--records=7>'
	completes 'mmap-cube create --map\thil\t' '<create><--mapping=hilbert>'
	completes 'diskprobe --seed=inp\t' '<--seed=inp>'
}

@test "bash: TAB completes models of simulated devices" {
	needs python3
	completes 'xsort --volume=sim:atl\t' '<--volume=sim:atlas10k3-like>'
	completes 'xsort --volume sim:atl\t in' '<--volume><sim:atlas10k3-like><in>'
	completes 'xsort --volume=s\ttiny' '<--volume=sim:tiny>'
	completes 'mmap-cube create --volume=s\tnea\t' '<create><--volume=sim:nearline6t-like>'
	completes 'diskprobe --quick sim:che\t' '<--quick><sim:cheetah36es-like>'
	completes 'aiobench run sim:ult\t-b 4K' '<run><sim:ultrastar36lzx-like><-b><4K>'
	completes 'xsort --volume=bl\t' '<--volume=block:>'
	for model in "$top"/lib/dev/models/*.json; do
		grep -qE "sim:$(basename -s .json "$model")[ ')]" "$made/bash/xsort" "$made/zsh/_xsort" "$made/fish/xsort.fish"
	done
}

@test "bash: TAB completes columns of the file of the line" {
	needs python3
	printf '\xef\xbb\xbf"a ""b, c",price,2nd,naïve,prime\r\n"x,price_of",1\n' >goods.csv
	printf 'id;cost;price\nnotaname;1\n' >semi.csv
	printf 'word  count\n' >blanks
	completes 'xsort --csv --header goods.csv -k pric\t' '<--csv><--header><goods.csv><-k><price>'
	completes 'xsort goods.csv --csv --header --key=prim\t' '<goods.csv><--csv><--header><--key=prime>'
	completes 'xsort --csv --header -o input-of-one goods.csv -k na\t' '<--csv><--header><-o><input-of-one><goods.csv><-k><naïve>'
	completes "xsort --csv --header -t ';' semi.csv -k c\t" '<--csv><--header><-t><;><semi.csv><-k><cost>'
	completes "xsort --header -t';' semi.csv -k c\t" '<--header><-t;><semi.csv><-k><cost>'
	completes 'xsort --header blanks -k c\t' '<--header><blanks><-k><count>'
	completes 'xindex build --csv --header goods.csv -k prim\t' '<build><--csv><--header><goods.csv><-k><prime>'
	completes "xjoin --header -t ';' semi.csv goods.csv -1 c\t-2 pri\t" '<--header><-t><;><semi.csv><goods.csv><-1><cost><-2><pri>'
	completes "xjoin --header --csv semi.csv goods.csv -2 pric\t" '<--header><--csv><semi.csv><goods.csv><-2><price>'
	# the file may follow the cursor
	back=$'\2\2\2\2\2\2\2\2\2\2'
	completes "xsort --csv --header -k pric goods.csv$back\t" '<--csv><--header><-k><price><goods.csv>'
	printf '{"time":"x","user":{"id":1},"tags":[{"b":1}],"odd name":3,"q\\"":{"in":1},"last":2}\n{"no":1}\n' >log.jsonl
	completes 'xsort --json log.jsonl -k .us\t.i\t' '<--json><log.jsonl><-k><.user.id>'
	completes 'xsort --json log.jsonl -k .l\t' '<--json><log.jsonl><-k><.last>'
	completes 'xsort --json log.jsonl -k .no\t' '<--json><log.jsonl><-k><.no>'
	completes 'xgroup --json log.jsonl -k .ti\t' '<--json><log.jsonl><-k><.time>'
	completes 'xjoin --json log.jsonl log.jsonl -1 .ti\t-2 .la\t' '<--json><log.jsonl><log.jsonl><-1><.time><-2><.last>'
	# without a header or a file, and below the header, there is none
	completes 'xsort --csv goods.csv -k pric\t' '<--csv><goods.csv><-k><pric>'
	completes 'xsort --csv --header -k inp\t' '<--csv><--header><-k><inp>'
	completes 'xsort --csv --header semi.csv -k nota\t' '<--csv><--header><semi.csv><-k><nota>'
}

# lacks FILE PATTERN: prints the names in "options" that no match of the pattern in the file has.
lacks()
{
	comm -23 options <(grep -oE -- "$2" "$1" | sed -E 's/^.*(--|-l )([a-z0-9_-]+) ?$/\2/' | sort -u)
}

@test "every option of every tool is completed by every shell" {
	for tool in "$bin"/*; do
		name=${tool##*/}
		"$tool" --help | grep -oE '^ {1,10}(-[^ ], )?--[a-z0-9_-]+' | sed 's/.*--//' | sort -u >options
		[ "$(wc -l <options)" -ge 3 ]
		[ -z "$(lacks "$made/bash/$name" "[ ']--[a-z0-9_-]+")" ]
		[ -z "$(lacks "$made/zsh/_$name" "'\*--[a-z0-9_-]+")" ]
		[ -z "$(lacks "$made/fish/$name.fish" '-l [a-z0-9_-]+ ')" ]
	done
}

@test "bash, zsh and fish can read their files" {
	needs zsh fish
	for tool in "$bin"/*; do
		name=${tool##*/}
		bash -n "$made/bash/$name"
		zsh -n "$made/zsh/_$name"
		fish -n "$made/fish/$name.fish"
	done
}

@test "fish: options with their words, and commands" {
	needs fish
	export HOME=$PWD
	asked() { fish -c "source '$made/fish/${1%% *}.fish'; complete -C '$1'" | cut -f1; }
	[ "$(asked 'xsort --merge-policy=po')" = --merge-policy=polyphase ]
	[ "$(asked 'xsort --merge-po')" = --merge-policy ]
	[ "$(asked 'aiobench repl')" = replay ]
	[ "$(asked 'mmap-cube create --mapping=hil')" = --mapping=hilbert ]
	[ "$(asked 'xgen linei')" = lineitem ]
}

@test "fish: columns of the file of the line" {
	needs fish
	export HOME=$PWD
	printf '\xef\xbb\xbf"a ""b, c",price,2nd,na\xc3\xafve,prime\r\n"x,price_of",1\n' >goods.csv
	printf 'id;cost;price\nnotaname;1\n' >semi.csv
	asked() { fish -c "source '$made/fish/${1%% *}.fish'; complete -C '$1'" | cut -f1 | paste -sd' '; }
	[ "$(asked 'xsort --csv --header goods.csv -k pri')" = 'price prime' ]
	[ "$(asked 'xsort --csv --header goods.csv --key=prim')" = --key=prime ]
	[ "$(asked 'xsort --header -t ";" -o goods.csv semi.csv -k co')" = cost ]
	[ "$(asked 'xsort --header --field-separator=";" semi.csv -k co')" = cost ]
	[ "$(asked 'xindex build --csv --header goods.csv -k prim')" = prime ]
	[ "$(asked 'xjoin --header -t ";" semi.csv goods.csv -1 c')" = cost ]
	[ "$(asked 'xjoin --header --csv semi.csv goods.csv -2 pri')" = 'price prime' ]
	printf '{"time":"x","user":{"id":1}}\n' >log.jsonl
	[ "$(asked 'xsort --json log.jsonl -k .us')" = '.user .user.id' ]
	# without a header or a file, and below the header, there is none
	[ -z "$(asked 'xsort --csv goods.csv -k pri')" ]
	[ -z "$(asked 'xsort --csv --header -k pri')" ]
	[ -z "$(asked 'xsort --csv --header semi.csv -k nota')" ]
}

zsh_completes() # KEYS WORDS
{
	local tool=${1%% *}

	cat >.zshrc <<-T
		PS1='ready> '
		fpath=('$made/zsh' \$fpath)
		autoload -Uz compinit && compinit -u -D
		$tool() { printf '<%s>' "\$@"; printf '|\n'; }
	T
	ZDOTDIR=$PWD python3 "$BATS_TEST_DIRNAME/type_at_shell.py" zsh -i -- "$1" >typed
	words=$(sed -n 's/^\(<.*>\)|$/\1/p' typed)
	[ "$words" = "$2" ] || { echo "$1: $words, not $2"; cat typed; return 1; }
}

@test "zsh: TAB completes options, words of options and commands" {
	needs zsh python3
	zsh_completes 'xsort --merge-po\tpoly\t' '<--merge-policy=polyphase>'
	zsh_completes 'aiobench repl\t--runt\t3' '<replay><--runtime=3>'
}

@test "zsh: TAB completes columns of the file of the line" {
	needs zsh python3
	printf 'name,price,2nd,prime\n"x,price_of",1\n' >goods.csv
	printf 'id;cost;price\nnotaname;1\n' >semi.csv
	zsh_completes 'xsort --csv --header goods.csv -k pric\t' '<--csv><--header><goods.csv><-k><price>'
	zsh_completes 'xsort goods.csv --csv --header --key=prim\t' '<goods.csv><--csv><--header><--key=prime>'
	zsh_completes "xsort --header -t ';' semi.csv -k c\t" '<--header><-t><;><semi.csv><-k><cost>'
	zsh_completes 'xindex build --csv --header goods.csv -k prim\t' '<build><--csv><--header><goods.csv><-k><prime>'
	zsh_completes "xjoin --header -t ';' semi.csv goods.csv -1 c\t" '<--header><-t><;><semi.csv><goods.csv><-1><cost>'
	zsh_completes 'xjoin --header --csv semi.csv goods.csv -2 pric\t' '<--header><--csv><semi.csv><goods.csv><-2><price>'
	# the file may follow the cursor
	back=$'\2\2\2\2\2\2\2\2\2\2'
	zsh_completes "xsort --csv --header -k pric goods.csv$back\t" '<--csv><--header><-k><price><goods.csv>'
	zsh_completes 'xsort --csv goods.csv -k pric\t' '<--csv><goods.csv><-k><pric>'
	zsh_completes 'xsort --csv --header semi.csv -k nota\t' '<--csv><--header><semi.csv><-k><nota>'
}
