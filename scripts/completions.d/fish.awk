# SPDX-License-Identifier: MIT

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
		options = options ($6 ? "" : files ? " -r -F" : " -x") ($8 != "" ? " -a " quoted($8) : "")
	}
	options = options "\n"
}

END {
	print "# Completion of " tool " for fish; made from its table of options."
	printf "%s%s%s", commands, operands, options
}
