# SPDX-License-Identifier: MIT
#
# columns: the file columns.sh.

function quoted(text) {
	gsub(/[\\']/, "\\\\&", text)
	return "'" text "'"
}

$1 == "C" {
	commands = commands "complete -c " tool " -n __fish_use_subcommand -f -a " $2 " -d " quoted($3) "\n"
}
$1 == "W" && $3 != "" { operands = operands "complete -c " tool condition($2) " -f -a " quoted($3) "\n" }
function condition(command) {
	return command == "" ? (commands == "" ? "" : " -n __fish_use_subcommand") : " -n '__fish_seen_subcommand_from " command "'"
}
$1 == "O" {
	options = options "complete -c " tool condition($2) ($3 == "" ? "" : " -s '" $3 "'") \
		($4 == "" ? "" : " -l " $4) " -d " quoted($7)
	if ($5 != "") {
		files = $8 == "" && $9 !~ /^(none|column)/
		words = $9 ~ /^column/ ? "(_spindle_columns " substr($9, 8) ")" : $8
		options = options ($6 ? "" : files ? " -r -F" : " -x") (words != "" ? " -a " quoted(words) : "")
	}
	options = options "\n"
}

$9 ~ /^column/ { has_columns = 1 }

END {
	print "# Completion of " tool " for fish; made from its table of options."
	if (has_columns) {
		while ((getline line < columns) > 0)
			if (line !~ /^#/)
				script = script line "\n"
		print "function _spindle_columns"
		print "\tsh -c " quoted(script "_spindle_columns \"$@\"") " sh $argv (commandline -op)[2..-1]\nend"
	}
	printf "%s%s%s", commands, operands, options
}
