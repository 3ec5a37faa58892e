# SPDX-License-Identifier: MIT
#
# zsh: specifications for _arguments.  columns: the file columns.sh.

function quoted(text) {
	gsub(/\[|\]|:|\\/, "\\\\&", text)
	gsub(/'/, "'\\''", text)
	return text
}

function values() {
	return $8 != "" ? "(" $8 ")" : $9 == "file" ? "_files" : $9 == "directory" ? "_files -/" : \
		$9 == "command" ? "_command_names" : $9 ~ /^column/ ? " _spindle_names " substr($9, 8) : " "
}

# An option may be given again: the last one counts, or all do.
function spec(option, glue) {
	return " \\\n\t\t'*" option ($5 == "" ? "" : $6 ? glue "-" : glue) "[" quoted($7) "]" \
		($5 == "" ? "" : ($6 ? "::" : ":") quoted($5) ":" values()) "'"
}

$9 ~ /^column/ { has_columns = 1 }
$1 == "C" { about[++n] = "\t\t\t'" $2 ":" quoted($3) "'\n" }
$1 == "W" { operand[$2] = " \\\n\t\t'*:operand:" ($3 != "" ? "(" $3 ")" : "_files") "'"; order[++m] = $2 }
$1 == "O" {
	if ($3 != "")
		specs[$2] = specs[$2] spec("-" $3, "+")
	if ($4 != "")
		specs[$2] = specs[$2] spec("--" $4, "=")
}

END {
	print "#compdef " tool
	print "# Completion of " tool " for zsh; made from its table of options."
	if (has_columns) {
		while ((getline line < columns) > 0)
			if (line !~ /^# (SPDX|shellcheck)/)
				print line
		print "_spindle_names()\n{"
		print "\tlocal -a names=(${(f)\"$(_spindle_columns $1 \"${(@)words[2,-1]}\")\"})"
		print "\tcompadd -a names\n}"
	}
	if (!n) {
		print "_arguments -s -S" specs[""] operand[""]
		exit
	}
	print "local curcontext=$curcontext state line\ntypeset -A opt_args"
	print "_arguments -C" specs[""] " \\\n\t\t'1:command:->command' '*::operand:->operands'"
	print "case $state in\ncommand)\n\tlocal -a commands=("
	for (i = 1; i <= n; i++)
		printf "%s", about[i]
	print "\t)\n\t_describe command commands\n\t;;\noperands)\n\tcase $line[1] in"
	for (i = 2; i <= m; i++) # the first is none
		print "\t" order[i] ")\n\t\t_arguments -s -S" specs[order[i]] operand[order[i]] "\n\t\t;;"
	print "\tesac\n\t;;\nesac"
}
