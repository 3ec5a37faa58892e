# shellcheck shell=bash
# SPDX-License-Identifier: MIT

# shellcheck source=scripts/needs.bash
. "${BASH_SOURCE[0]%/*}/../../scripts/needs.bash"

# fits_schema [REPORT...]: each has what its JSON Schema says, and no more; without one, all schemas are valid.
fits_schema()
{
	local rc=0

	needs python3
	"${BASH_SOURCE[0]%/*}/../../scripts/fits-schema" "$@" >&2 || rc=$?
	[ "$rc" -ne 77 ] || skip "needs python3-jsonschema"
	return "$rc"
}

# has_keys REPORT GROUP...: it fits its schema and has all keys of the golden list for its kind, in
# their order, and no others; of what can be missing, null or empty, it has the groups named.
has_keys()
{
	fits_schema "$1" && same_keys "$@"
}

same_keys()
{
	needs jq
	diff <(golden_keys "$(jq -r '"[" + .schema + if .tool == "aiobench" then " " + .kind else "" end + "]"' "$1")" \
		"${@:2}") <(report_keys "$1")
}

# golden_keys "[SCHEMA KIND]" GROUP...: in the list, "?" follows what can be missing.
golden_keys()
{
	awk -v head="$1 " -v named="${*:2}" '
		BEGIN { n = split(named, group, " "); for (i = 1; i <= n; i++) has[group[i]] = 1 }
		index($0, head) != 1 { next }
		{
			path = substr($0, length(head) + 1)
			plain = ""
			n = split(path, part, "?")
			for (i = 1; i < n; i++) {
				plain = plain part[i]
				if (!(plain in has))
					next
			}
			print plain part[n]
		}' "${BASH_SOURCE[0]%/*}/../golden/report.keys"
}

# report_keys REPORT: the paths of its values, each once; objects that are null are not there.
report_keys()
{
	jq -r 'paths(type != "object" and type != "array") |
		map(if type == "number" then "[]" else . end) | join(".") | gsub("\\.\\[\\]"; "[]")' "$1" |
		awk -v null_objects="$(sed -nE 's/^\[[^]]*\] ([^?]*)\?\..*/\1/p' \
			"${BASH_SOURCE[0]%/*}/../golden/report.keys" | sort -u | xargs)" '
			BEGIN { n = split(null_objects, o, " "); for (i = 1; i <= n; i++) skip[o[i]] = 1 }
			!seen[$0]++ && !($0 in skip)'
}
