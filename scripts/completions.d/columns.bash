# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Part of a completion of bash: names of columns.

# _spindle_header N: the first line of the Nth file of the command line, if it has --header, and
# before it the separator of its fields.
_spindle_header()
{
	local word last='' separator='' comma='' header='' file='' n=0

	for word in "${COMP_WORDS[@]:1}"; do
		case $last in
		-t | --field-separator) [ "$word" = = ] || separator=$word ;;
		-o | -T | --output | --temporary-directory) ;;
		*)
			case $word in
			-t?*) separator=${word#-t} ;;
			--csv) comma=, ;;
			--header*) header=yes ;;
			*) [ ! -f "$word" ] || [ $((++n)) -ne "$1" ] || file=$word ;;
			esac
			;;
		esac
		[ "$word" = = ] || last=$word
	done
	[ -n "$file" ] && [ -n "$header" ] || return 0
	printf '%s\n' "${separator//[\'\"\\]/}" | sed "s/^\$/$comma/"
	head -c 65536 -- "$file" 2>/dev/null | head -n 1
}

# _spindle_columns N: the names in this line that need no quotes.
_spindle_columns()
{
	_spindle_header "$1" | LC_ALL=C awk '
		NR == 1 { separator = $0; next }
		{
			sub(/^\357\273\277/, "")
			sub(/\r$/, "")
			while (match($0, /"([^"]|"")*"/)) # holds separators
				$0 = substr($0, 1, RSTART - 1) ":" substr($0, RSTART + RLENGTH)
			n = separator == "" ? split($0, names) : split($0, names, "[" separator "]")
			for (i = 1; i <= n; i++)
				if (names[i] ~ /^[A-Za-z_\200-\377][A-Za-z0-9_.\200-\377-]*$/)
					print names[i]
		}'
}

