#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# file_tags=slow
#
# Runs every recipe of spindle-recipes(7), as the page has it, on small data in a folder of its own,
# and then its checks from recipes.checks.
. "$(dirname "$0")/../../scripts/tap.bash"

needs mandoc
top=$PWD
build=$(cd "${SP_BUILD:-build}" && pwd)
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
export LC_ALL=C PYTHONDONTWRITEBYTECODE=1
[ ! -e "$build/python/.done" ] || export PYTHONPATH=$build/python
for tool in xsort xgroup xjoin xindex xtable xgen mmap-cube aiobench blockseq diskprobe vdisk; do
	variable=${tool^^}
	ln -s "$(realpath "$(eval echo "\${${variable//-/_}:-$build/bin/$tool}")")" "$work/$tool"
done
export PATH=$work:$PATH TMPDIR=$work

# shellcheck source=tests/cli/recipes.bash
. "$(dirname "$0")/recipes.bash"
# A program that is linked with the library of the build; one with a sanitizer cannot be.
if [ "${build##*/}" = build ] && [ -e "$build/lib/libspindle.so" ]; then
	printf '%s\n' "Name: libspindle" "Description: of the build" "Version: 0" \
		"Cflags: -I$top/lib/include" "Libs: -L$build/lib -lspindle" >"$work/libspindle.pc"
	export PKG_CONFIG_PATH=$work LD_LIBRARY_PATH=$build/lib
fi

# titles PAGE: the words of each recipe, a line each; recipe PAGE N: the command of the Nth.
titles() { sed -n 's/^\.It "\(.*\)"$/\1/p' "$1" | sed 's/\\(dq/"/g'; }
recipe()
{
	awk -v n="$2" '/^\.It / { at++ } /^\.Ed$/ { on = 0 } on && at == n { print } /^\.Bd -literal -compact$/ { on = 1 }' "$1" |
		sed 's/\\e/\\/g; s/^\\&//'
}
# check FILE TITLE: the lines that follow "== TITLE".
check() { awk -v title="== $2" '/^== / { on = $0 == title; next } on' "$1"; }

# run_recipe N TITLE: runs the command and its checks in a copy of the data.
run_recipe()
{
	local command commands

	command=$(recipe "$page" "$1")
	commands=$(check "$checks" "$2" | sed '1{/^needs /d;}')
	[ -n "$command" ] || { echo "the page has no command"; return 1; }
	[ -n "$commands" ] || { echo "recipes.checks has no check"; return 1; }
	cp -r "$work/data" "$work/$1" && cd "$work/$1" || return
	bash -o pipefail -c "$command" >got 2>errors </dev/null || { echo "status $? of: $command"; cat errors; return 1; }
	bash -e -o pipefail -c "$commands" || { echo "failed after: $command"; head -n 20 got errors; return 1; }
	cd "$top" && rm -rf "${work:?}/$1"
}

page=$top/man/spindle-recipes.7 checks=$top/tests/cli/recipes.checks
mkdir "$work/data" && (cd "$work/data" && set -e && make_data) || exit 2
n=0
while IFS= read -r title; do
	n=$((n + 1))
	need=$(check "$checks" "$title" | sed -n '1s/^needs //p')
	reason=${need:+$(lacks "$need")}
	if [ -n "$reason" ]; then
		tap_skip "$title" "$reason"
	else
		tap "$title" run_recipe $n "$title"
	fi
done < <(titles "$page")
tap "the page has sixty recipes, and a command for each" \
	[ "$n $(grep -c '^\.Bd -literal -compact$' "$page")" = "$n $n" -a "$n" -ge 60 ]
tap_empty "every check has a recipe, and every recipe one check" \
	"$(diff <(titles "$page" | sort) <(sed -n 's/^== //p' "$checks" | sort))"
# Examples of --help: the lines below "Examples".
examples() { sed '1,/^Examples/d; s/^ *//'; }
for tool in xsort xjoin; do
	tap "$tool --help ends with five examples" [ "$("$tool" --help | examples | wc -l)" -eq 5 ]
	tap_empty "each of them is a recipe" "$("$tool" --help | examples | grep -vxFf <(for i in $(seq "$n"); do
		recipe "$page" "$i" | paste -sd' '
	done))"
done
tap_done
