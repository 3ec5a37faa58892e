# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# The start of every test of this folder: TAP, the tools under test, the shim (absent from builds
# with sanitizers), and a folder for the test's work, which is the current one.  With in_memory=yes
# the folder is in memory if possible, for tools that often wait for the device.

# shellcheck source=scripts/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/tap.bash"

build=$(realpath "${SP_BUILD:-$PWD/build}")
shim=$build/tests/shim/failcall.so
xgen=$(realpath "${XGEN:-$build/bin/xgen}")
xgroup=$(realpath "${XGROUP:-$build/bin/xgroup}")
xindex=$(realpath "${XINDEX:-$build/bin/xindex}")
xjoin=$(realpath "${XJOIN:-$build/bin/xjoin}")
xtable=$(realpath "${XTABLE:-$build/bin/xtable}")
diskprobe=$(realpath "${DISKPROBE:-$build/bin/diskprobe}")
xsort=$(realpath "${XSORT:-$build/bin/xsort}")
cube=$(realpath "${MMAP_CUBE:-$build/bin/mmap-cube}")
aiobench=$(realpath "${AIOBENCH:-$build/bin/aiobench}")
blockseq=$(realpath "${BLOCKSEQ:-$build/bin/blockseq}")

work=${TMPDIR:-/tmp}
[ -z "${in_memory:-}" ] || [ ! -w /dev/shm ] || work=/dev/shm
work=$(mktemp -d "$work/sp-fault.XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" && mkdir tmp || exit 2
export LC_ALL=C

# A function that is not there must not look like a check that passes.
# shellcheck disable=SC2317,SC2329 # called by bash, in a process of its own
command_not_found_handle()
{
	echo "$0: $1: command not found" >&2
	kill $$
}

# Thousands of runs are judged, so these start no process.
#
# holds FOLDER [NAME]: the folder has only a file of this name, or none.
holds()
{
	local file found=''

	for file in "$1"/* "$1"/.[!.]*; do
		[ ! -e "$file" ] && [ ! -L "$file" ] || found+=${file##*/}
	done
	[ "$found" = "${2:-}" ]
}

# messages PROGRAM: sets messages to how many lines of err begin with its name, and lines to how many there are.
messages()
{
	local line

	messages=0 lines=0
	while IFS= read -r line || [ -n "$line" ]; do
		lines=$((lines + 1))
		[[ $line != "$1: "?* ]] || messages=$((messages + 1))
	done <err
}

# counts CALLS COMMAND..., fails NUMBER CALLS COMMAND...: the command with the shim, which counts the calls or lets one fail.
counts() { FAILCALL_COUNT=$work/count FAILCALL_CALLS=$1 FAILCALL_FD_MIN=3 LD_PRELOAD=$shim "${@:2}"; }
fails() { FAILCALL_AT=$1 FAILCALL_CALLS=$2 FAILCALL_FD_MIN=3 LD_PRELOAD=$shim "${@:3}"; }

needs_shim() { [ -e "$shim" ] || { echo '1..0 # SKIP no shim in this build'; exit 0; }; }
