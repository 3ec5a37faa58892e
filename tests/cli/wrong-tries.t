#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# file_tags=slow
#
# The first message of each try that does not work, of tasks that spindle-recipes(7) solves: a list
# in wrong-tries.cases, where a line "$ command" precedes the message.  The folder and the free space
# that a message advises are DIR and N.
. "$(dirname "$0")/../../scripts/tap.bash"

top=$PWD
build=$(cd "${SP_BUILD:-build}" && pwd)
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
export LC_ALL=C PATH=$build/bin:$PATH TMPDIR=$work
# shellcheck source=tests/cli/recipes.bash
. "$(dirname "$0")/recipes.bash"
mkdir "$work/data" && (cd "$work/data" && set -e && make_data) || exit 2

# says COMMAND MESSAGE: it fails with this message, and leaves no file.
says()
{
	local first files

	cd "$work/data" || return
	files=$(ls -A)
	first=$(timeout 60 bash -c "$1" 2>&1 >/dev/null </dev/null | sed '1s/ -T .* has .* free$/ -T DIR has N free/;q')
	[ "$first" = "$2" ] || { echo "it says: $first"; return 1; }
	! timeout 60 bash -c "$1" >/dev/null 2>&1 </dev/null || { echo "its status is 0"; return 1; }
	[ "$(ls -A)" = "$files" ] || { echo "it has left files"; return 1; }
}

cases=$top/tests/cli/wrong-tries.cases
n=0
while IFS= read -r command; do
	IFS= read -r message || break
	n=$((n + 1))
	tap "$command" says "${command#\$ }" "$message"
	cd "$top" || exit 2
done < <(grep -v '^#' "$cases")
tap "there are sixty of them" [ "$n" -ge 60 ]
tap_done
