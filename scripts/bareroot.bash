# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# Functions for checks, after tap.bash: steps in a bare root of this release of Debian.
#
# A script of steps contains commands "step NAME COMMAND...", one a line, after ". /step.bash".

# What "step" does: it prints "ok NAME", or "not NAME" and the output of the command, which ends with
# the first command that fails.
step_bash()
{
	cat <<-'SCRIPT'
	step()
	{
		local name=$1 out status
		shift
		out=$(set -e; "$@" 2>&1)
		status=$?
		[ "$status" -ne 0 ] || { echo "ok $name"; return; }
		echo "not $name"
		sed 's/^/# /' <<<"$out"
	}
	SCRIPT
}

# tap_steps RESULT STEPS: the steps of a script as checks; all must have been taken.
tap_steps()
{
	local status name

	while read -r status name; do
		case $status in
		ok) tap "$name" true ;;
		not) tap "$name" false ;;
		'#') echo "# $name" ;;
		esac
	done <"$1"
	tap "all steps were taken" [ "$(grep -c '^step "' "$2")" -eq "$(grep -cE '^(ok|not) ' "$1")" ]
}

# The root: from where this machine gets its own packages.
bare_root() # FOLDER PACKAGE...
{
	local folder=$1 suite mirror components
	shift

	suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Codename: $suite" | head -n 1)
	components=$(apt-get indextargets --format '$(COMPONENT)' 'Created-By: Packages' "Codename: $suite" | sort -u | paste -sd,)
	step_bash >"$folder/step.bash"
	mmdebstrap --variant=apt --components="${components:-main}" "${@/#/--include=}" \
		--customize-hook="copy-in $(printf "'%s' " "$folder"/*) /" \
		--customize-hook='chroot "$1" bash /steps' "$suite" /dev/null "${mirror:-http://deb.debian.org/debian}"
}

# tap_bare_root FOLDER FIRST PACKAGE...: takes the steps of FOLDER/steps in a root that has the content
# of the folder and these packages.  FIRST is the name of a step; if it fails, the others mean nothing.
tap_bare_root()
{
	local folder=$1 first=$2 result
	shift 2

	needs mmdebstrap
	result=$(mktemp "${TMPDIR:-/tmp}/sp-steps.XXXXXX") || exit 2
	bare_root "$folder" "$@" >"$result" 2>&1
	if grep -q "^ok $first" "$result"; then
		tap_steps "$result" "$folder/steps"
	elif grep -q '^not ' "$result"; then
		tap "$first" sh -c 'cat "$1"; exit 1' - "$result"
	else
		tap_skip "$first" "mmdebstrap made none: $(grep -m 1 '^E:' "$result")"
	fi
	rm -f "$result"
}
