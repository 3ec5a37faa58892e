# shellcheck shell=bash
# SPDX-License-Identifier: MIT

# shellcheck source=scripts/needs.bash
. "${BASH_SOURCE[0]%/*}/../../scripts/needs.bash"

# keys REPORT: the paths of its values, each once, for a comparison with the golden list.
keys()
{
	needs jq
	jq -r 'paths(type != "object" and type != "array") |
		map(if type == "number" then "[]" else . end) | join(".")' "$1" | awk '!seen[$0]++'
}
