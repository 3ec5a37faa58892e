# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# Part of the completions: names of columns, and paths of JSON.  bash and zsh define the function; fish has sh run it.

# _spindle_paths: the paths of members in the first line of JSON, whose names need no quotes.
_spindle_paths()
{
	head -n 1 | LC_ALL=C awk '
		{
			for (s = $0; match(s, /"([^"\\]|\\.)*"|[][{}]/); ) {
				t = substr(s, RSTART, RLENGTH)
				s = substr(s, RSTART + RLENGTH)
				if (t == "{") {
					depth++
					prefix[depth] = path
				} else if (t == "}") {
					depth--
				} else if (t == "[" || t == "]") {
					arrays += t == "[" ? 1 : -1
				} else if (!arrays && s ~ /^[ \t]*:/) {
					gsub(/"/, "", t)
					path = prefix[depth] "." t
					if (path ~ /^(\.[A-Za-z_\200-\377][A-Za-z0-9_\200-\377]*)+$/)
						print path
				}
			}
		}'
}

# _spindle_columns N WORD...: the columns of the Nth file of the line, if it has --header, whose
# names need no quotes; with --json the paths in its first line.
_spindle_columns()
(
	wanted=$1 last='' separator='' comma='' header='' json='' file='' n=0
	shift
	for word; do
		case $last in
		-t | --field-separator) [ "$word" = = ] || separator=$word ;;
		-o | -T | --output | --temporary-directory) ;;
		*)
			case $word in
			-t?*) separator=${word#-t} ;;
			--field-separator=*) separator=${word#*=} ;;
			--csv) comma=, ;;
			--header*) header=yes ;;
			--json*) json=yes ;;
			*) if [ -f "$word" ] && n=$((n + 1)) && [ "$n" -eq "$wanted" ]; then file=$word; fi ;;
			esac
			;;
		esac
		[ "$word" = = ] || last=$word
	done
	if [ -n "$file" ] && [ -n "$json" ]; then
		head -c 65536 -- "$file" 2>/dev/null | _spindle_paths
		return 0
	fi
	[ -n "$file" ] && [ -n "$header" ] || return 0
	{
		printf '%s\n' "$separator" | tr -d "\\\\'\"" | sed "s/^\$/$comma/"
		head -c 65536 -- "$file" 2>/dev/null | head -n 1
	} | LC_ALL=C awk '
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
)
