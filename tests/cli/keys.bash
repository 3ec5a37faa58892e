# shellcheck shell=bash
# SPDX-License-Identifier: MIT

# shellcheck source=scripts/needs.bash
. "${BASH_SOURCE[0]%/*}/../../scripts/needs.bash"

# fits_schema REPORT...: each has what its JSON Schema says, and no more.
fits_schema()
{
	needs python3
	python3 -c 'import jsonschema' 2>/dev/null || skip "needs python3-jsonschema"
	"${BASH_SOURCE[0]%/*}/../../scripts/fits-schema" "$@" >&2
}

# keys REPORT: the paths of its values, each once, for a comparison with the golden list.
# The report must fit its schema.
keys()
{
	needs jq
	fits_schema "$1" || return
	jq -r 'paths(type != "object" and type != "array") |
		map(if type == "number" then "[]" else . end) | join(".")' "$1" | awk '!seen[$0]++'
}
