# shellcheck shell=bash disable=SC2030,SC2031 # PATH is another one in each subshell
# SPDX-License-Identifier: MIT
#
# A program under the name of a GNU tool against that tool: every line of a file of cases
# is evaluated by bash in a directory of fixtures, once with each.  Standard output,
# standard error, exit status and the files left must be the same, byte for byte.
#
#	as_gnu_begin NAME PROGRAM	skips all if GNU NAME 9.1 is not here; makes $work/files
#	as_gnu_run CASES [LINE]...	all lines, or only these.  The fixtures are copied for cases that
#					match writes, a regular expression; the others leave them as they
#					are, which is checked.  newer, a script of sed, gives GNU's
#					messages the words of its newest release

as_gnu_begin()
{
	name=$1 writes='>'
	work=$(mktemp -d "${TMPDIR:-/tmp}/as-gnu.XXXXXX") || exit 2
	trap 'rm -rf "$work"' EXIT
	if ! "$name" --version 2>/dev/null | head -n 1 | grep -qx "$name (GNU coreutils) 9\\.1"; then
		echo "1..0 # SKIP GNU $name 9.1 is not here"
		exit 0
	fi
	mkdir "$work/bin" "$work/files" && ln -s "$(realpath "$2")" "$work/bin/$name" || exit 2
	export LC_ALL=C.UTF-8 LANGUAGE=C TMPDIR=$work TZ=UTC
	unset POSIXLY_CORRECT _POSIX2_VERSION
	umask 022
}

# once NAME PATH CASE: runs a case with that PATH.
once()
{
	local place=$work/files

	: >"$work/$1.files"
	if [[ $3 =~ $writes ]]; then
		place=$work/now
		rm -rf "$place"
		cp -a "$work/files" "$place"
	fi
	cd "$place" || exit 2
	# Not by "bash -c": a program to be started would take most of the time.
	(
		set +u
		PATH=$2
		eval "$3"
	) >"$work/$1.out" 2>"$work/$1.err" </dev/null
	echo "$?" >"$work/$1.status"
	if [ "$place" != "$work/files" ]; then
		contents >"$work/$1.files"
	elif [ . -nt "$work/begun" ]; then
		echo "a file was made or removed" >"$work/$1.files"
		: >"$work/begun"
	fi
}

# contents: names, modes and checksums of what is in the current folder.
contents()
{
	find . -mindepth 1 -printf '%P %y %m %l\n' | LC_ALL=C sort
	find . -type f -exec cksum {} + | LC_ALL=C sort
}

# compare CASE: sets $reason to the differences.
compare()
{
	local what gnu own

	once gnu "$PATH" "$1"
	[ -z "${newer:-}" ] || [ ! -s "$work/gnu.err" ] || sed -i "$newer" "$work/gnu.err"
	once own "$work/bin:$PATH" "$1"
	reason=
	read -r gnu <"$work/gnu.status"
	read -r own <"$work/own.status"
	[ "$gnu" = "$own" ] || reason="# status, GNU's and ours: $gnu, $own
"
	for what in out err files; do
		# Most are empty, and need no process.
		[ -s "$work/gnu.$what" ] || [ -s "$work/own.$what" ] || continue
		cmp -s "$work/gnu.$what" "$work/own.$what" && continue
		reason+="# $what, GNU's and ours:
$(diff "$work/gnu.$what" "$work/own.$what" | head -n 6 | sed 's/^/#   /')
"
	done
}

as_gnu_run()
{
	local cases=$1 count=0 failed=0 line=0 case not

	shift
	(cd "$work/files" && contents) >"$work/fixtures"
	: >"$work/begun"
	while IFS= read -r case; do
		line=$((line + 1))
		[ $# -eq 0 ] || [[ " $* " == *" $line "* ]] || continue
		count=$((count + 1))
		compare "$case"
		not=
		[ -z "$reason" ] || not='not ' failed=$((failed + 1))
		echo "${not}ok $count - as GNU $name, line $line: ${case//#/\\#}"
		printf '%s' "$reason"
	done <"$cases"
	count=$((count + 1)) not=
	(cd "$work/files" && contents) | cmp -s - "$work/fixtures" || not='not ' failed=$((failed + 1))
	echo "${not}ok $count - cases that write no file leave the fixtures as they were"
	echo "1..$count"
	[ "$failed" -eq 0 ]
}
