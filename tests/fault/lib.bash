# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# What the sweeps share.  Each run of xsort must end well: with status 0 and
# the right result, or with status 2, a message, and the output file as it was
# (or complete); never by a signal, and never leaves a file.

# shellcheck source=tests/fault/begin.bash
. "$(dirname "${BASH_SOURCE[0]}")/begin.bash"

mkdir place

# expect FILE ARGUMENT...: what the result of these is, for judge.
expect()
{
	local name=$1

	shift
	"$xsort" -T tmp "$@" >"$name" || exit 2
}

# run ARGUMENT...: xsort into place/out, which was there before.
run()
{
	printf 'old\n' >place/out
	"${wrap[@]}" "$xsort" -T tmp -o place/out "$@" 2>err
	status=$?
}
wrap=()

# judge WANTED [strict]: says what is wrong with the run, if anything is.
# strict: the fault must be reported, if it came about; with --trace=trace that is seen in its last
# column, and a run that had fewer requests than the one that counted them is none to judge.
judge()
{
	local bad=''

	case $status in
	0) cmp -s place/out "$1" || bad='status 0 and a wrong result' ;;
	2)
		messages xsort
		[ -s err ] || bad='status 2 without a message'
		[ "$messages" -gt 0 ] || bad='a message of another form'
		[ "$lines" -le 2 ] || bad='more than one message'
		[ "$(head -c 4 place/out)" = old ] || cmp -s place/out "$1" ||
			bad='the output is neither old nor complete'
		;;
	*) bad="status $status" ;;
	esac
	[ "${2:-}" = strict ] && [ "$status" = 0 ] && ! grep -qs '^R.* [0-9]*$' trace &&
		bad='there is no trace'
	[ "${2:-}" = strict ] && [ "$status" = 0 ] && grep -qs ' -[0-9]*$' trace &&
		bad='the fault was not noticed'
	holds tmp || { bad="left in -T: $(ls -A tmp)"; rm -f tmp/*; }
	holds place out || { bad="left next to the output: $(ls -A place)"; rm -f place/*; }
	[ -z "$bad" ] || printf '%s: %s\n' "$bad" "$(head -c 300 err)"
}

# steps N: 1 to N, all of the first, later ever fewer.
steps()
{
	awk -v n="$1" -v few="${2:-12}" 'BEGIN {
		for (i = 1; i < n; i += i < few ? 1 : int(i / few) + 1) print i
		if (n > 0) print n }'
}
