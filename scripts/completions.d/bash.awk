# SPDX-License-Identifier: MIT
#
# bash: a function that reads the words of the line.  It needs nothing of the package
# bash-completion, which loads the file by its name.  columns: the file columns.sh.

function names(  s) { # patterns of case
	s = ""
	if ($3 != "")
		s = "'" $2 " -" $3 "'"
	if ($4 != "")
		s = s (s == "" ? "" : " | ") "'" $2 " --" $4 "'"
	return s
}

$1 == "C" { commands = commands " " $2 }
$1 == "W" && $3 != "" { operands = operands "\t'" $2 "') words='" $3 "' ;;\n" }
$1 == "O" {
	if ($3 != "")
		list[$2] = list[$2] " -" $3
	if ($4 != "")
		list[$2] = list[$2] " --" $4 ($5 != "" && !$6 ? "=" : "")
	if (!($2 in known))
		order[++n] = $2
	known[$2] = 1
	if ($5 == "")
		next
	what = $8 != "" ? "words='" $8 "'" : "action='" $9 "'"
	if ($9 ~ /^column/) {
		what = "words=$(_spindle_columns " substr($9, 8) " \"${COMP_WORDS[@]:1}\"); [ -n \"$words\" ] || action=none"
		has_columns = 1
	}
	if ($6) # only behind "="
		optional = optional "\t'" $2 " --" $4 "=') " what " ;;\n"
	else
		required = required "\t" names() ") " what " ;;\n"
}

END {
	f = "_spindle_" tool
	gsub(/-/, "_", f)
	print "# Completion of " tool " for bash; made from its table of options."
	while (has_columns && (getline line < columns) > 0)
		if (line !~ /^# (SPDX|shellcheck)/)
			print line
	print f "()\n{"
	print "\tlocal cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} option='' command=''"
	print "\tlocal joined='' prefix='' words='' action='' typed=${COMP_LINE:0:COMP_POINT}" (commands != "" ? " word" : "")
	print "\n\tCOMPREPLY=()"
	if (commands != "") {
		print "\tfor word in \"${COMP_WORDS[@]:1:COMP_CWORD - 1}\"; do"
		print "\t\tcase \"" commands " \" in *\" $word \"*) command=$word && break ;; esac"
		print "\tdone"
	}
	print "\ttyped=${typed##*[[:space:]]}"
	print "\t# Readline cuts words at \"=\" and \":\", unless COMP_WORDBREAKS lacks them."
	print "\tif [[ $typed == *sim:* && $COMP_WORDBREAKS == *:* ]]; then"
	print "\t\tcur=sim:${typed##*sim:} words='" models "'"
	print "\telif [ \"$cur\" = '=' ]; then"
	print "\t\tcur='' option=$before joined=yes"
	print "\telif [ \"$before\" = '=' ] && [ \"$COMP_CWORD\" -gt 2 ]; then"
	print "\t\toption=${COMP_WORDS[COMP_CWORD - 2]} joined=yes"
	print "\telif [[ $cur == --*=* ]]; then"
	print "\t\toption=${cur%%=*} prefix=${cur%%=*}= cur=${cur#*=} joined=yes"
	print "\telse"
	print "\t\toption=$before"
	print "\tfi"
	print "\tcase \"$command $option\" in\n" required "\tesac"
	if (optional != "")
		print "\t[ -z \"$joined\" ] || case \"$command $option=\" in\n" optional "\tesac"
	print "\tif [ -z \"$words$action\" ] && [[ $cur == -* ]]; then"
	print "\t\tcase $command in"
	for (i = 1; i <= n; i++)
		print "\t\t'" order[i] "') words='" substr(list[order[i]], 2) "' ;;"
	print "\t\tesac"
	if (commands != "") {
		print "\telif [ -z \"$words$action$command\" ]; then"
		print "\t\twords='" substr(commands, 2) "'"
	}
	if (operands != "") {
		print "\telif [ -z \"$words$action\" ]; then"
		print "\t\tcase $command in\n" operands "\t\tesac"
	}
	print "\tfi"
	print "\tcase $action in"
	print "\tnone) return ;;"
	print "\t'') [ -n \"$words\" ] || action=file ;;"
	print "\tesac"
	print "\tif [ -n \"$action\" ]; then"
	print "\t\tcompopt -o filenames 2>/dev/null"
	print "\t\tmapfile -t COMPREPLY < <(compgen -A \"$action\" -- \"$cur\")"
	print "\telse"
	print "\t\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")"
	print "\tfi"
	print "\t[[ $typed != *sim:* || $COMP_WORDBREAKS != *:* ]] || COMPREPLY=(\"${COMPREPLY[@]#sim:}\")"
	print "\t[ ${#COMPREPLY[@]} -eq 0 ] || COMPREPLY=(\"${COMPREPLY[@]/#/$prefix}\")"
	print "\tcase ${COMPREPLY[*]-} in *[=:]) compopt -o nospace 2>/dev/null ;; esac"
	print "}"
	print "complete -F " f " " tool
}
