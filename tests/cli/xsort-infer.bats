#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# --infer-types: keys are compared as their column's values in the first MiB are.
# no threads
. "$BATS_TEST_DIRNAME/suite.bash"

setup()
{
	begin_test tmp
	printf '%s\n' name,price,when,load b,10,2024-01-02,1e3 a,9.5,2024-01-01T10:00:00,5 \
		'"c,c",,2024-01-01 09:00:00Z,-3' d,-1,2023-12-31,1E-2 >goods.csv
}

infer() { "$xsort" --csv --header --infer-types "$@"; }
order() { infer "$@" goods.csv | tail -n +2 | cut -c1-2 | tr -d '\n"'; }

# says TYPE OPTION...: the type that is chosen for the key x.
says()
{
	run -0 infer --explain -k x "${@:2}"
	[[ $output == *"column 'x': $1, from the first "* ]] || { echo "$output"; return 1; }
}

@test "numbers, floating-point numbers, times and text" {
	[ "$(order -k price)" = d,ca,b, ]
	[ "$(order -k load)" = cd,a,b, ]
	[ "$(order -k when)" = d,ca,b, ]
	[ "$(order -k name)" = a,b,cd, ]
	[ "$(order -k 2,2)" = d,ca,b, ]
}

@test "letters of direction and of empty values go with a type; others replace it" {
	[ "$(order -k price:r)" = b,a,cd, ]
	[ "$(order -r -k price)" = b,a,cd, ]
	[ "$(order -k price:E)" = d,a,b,c ]
	[ "$(order -k price:f -k name)" = cd,b,a, ]
	for key in '-k price:n' '-n -k price' '-k 2n'; do
		# shellcheck disable=SC2086
		run -0 --separate-stderr infer $key goods.csv
		[ "${stderr:-}" = "xsort: warning: --infer-types had no effect: each key has letters of its own, or is not one whole column" ]
		# shellcheck disable=SC2086
		cmp <(echo "$output") <("$xsort" --csv --header $key goods.csv)
	done
}

@test "types of columns" {
	says "decimal numbers (letter n)" <<<$'x\n1\n\n-2.5\n .5 \n007'
	says "floating-point numbers (letter g)" <<<$'x\n1\n+2'
	says "floating-point numbers (letter g)" <<<$'x\n1e-5\n2.E+3'
	says "dates and times" <<<$'x\n2024-02-29\n\n2024-01-01T00:00:00.123456Z'
	says text <<<$'x\n2023-02-29'
	says text <<<$'x\n1\n2024-01-01'
	says text <<<$'x\n1,000'$'\n"1,000"'
	says text <<<$'x\n0x10'
	says text <<<$'x\nnan\n1'
	says text <<<$'x\n1e5000'
	says text <<<$'x\n1e-5000\n1'
	says text <<<$'x\n- 1'
	says text <<<$'x\n1\nNA'
	says text <<<$'x\n""\n'
	says text <<<x
}

@test "--debug and --explain print the types" {
	printf 'x y\n2 b\n10 a\n' >l
	run -0 --separate-stderr "$xsort" --debug --header --infer-types -t' ' -k x -k y l
	[[ $stderr == *"xsort: column 'x': decimal numbers (letter n), from the first 2 records"* ]]
	[[ $stderr == *"xsort: column 'y': text, from the first 2 records"* ]]
	[[ $output == *$'2 b\n_\n  _\n'* ]]
	run -0 "$xsort" --explain --header --infer-types -k y -k x:n l
	[[ $output == *"column 'y': text"* && $output != *"column 'x'"* ]]
}

# A column of numbers with one word after the sample.
make_bad()
{
	awk 'BEGIN {
		print "name\tprice"
		for (i = 0; i < 140000; i++)
			print "n" i "\t" (i == 120000 ? "cheap" : i)
	}' >bad.tsv
}

@test "a value of another type is an error with its line, whatever is done" {
	make_bad
	want="bad.tsv: line 120002: column price: 'cheap' is not a decimal number; give the key a letter, as in -k 'price:n', to compare such values, too, or leave out --infer-types to compare text"
	for how in '' '-S 1M' '-S 600K' '-c' '-C' '-m' '-u' '-u --count' '--limit=3' '-u --keep-order' '-s' '--parallel=1' \
		'--parallel=2' '--parallel=3' '--parallel=8' '-S 1M --parallel=3' '--run-formation=replacement -S 1M' \
		'--merge-policy=eager -S 1M' '--compress-output=gzip'; do
		# shellcheck disable=SC2086
		fails_with "xsort: $want" "$xsort" $how --header --infer-types -t $'\t' -k price bad.tsv
		fails_with "xsort: -${want#bad.tsv}" bash -c "cat bad.tsv | '$xsort' $how --header --infer-types -t '	' -k price"
	done
	for how in '-o out' '--parts=2 -o out%d' '--resume=ck -S 1M -o out'; do
		# shellcheck disable=SC2086
		run -2 "$xsort" $how --header --infer-types -t $'\t' -k price bad.tsv
		[[ $output == *"$want"* ]]
		[ -z "$(ls out* 2>/dev/null)" ]
	done
	[ -z "$(ls -A tmp)" ]
	"$xsort" --header --infer-types -t $'\t' -k price:n bad.tsv >/dev/null
}

@test "all inputs are checked, each with lines of its own" {
	printf 'x\n1\n2\n' >a && printf 'x\n3\n' >b && (printf 'x\n4\n\n' && yes 4 | head -n 600000 && echo '"5') >c
	fails_with "xsort: c: line 600004: column x: '\"5' is not a decimal number; give the key a letter, as in -k 'x:n', to compare such values, too, or leave out --infer-types to compare text" \
		"$xsort" --header --infer-types -t, -k x a b c
	(printf 'y,x\n"a\nb",2\n"a",\n' && yes 1,1 | head -n 300000 && printf '1,"no\nnumber"\n') >d
	printf 'y,x\na,2\n' >e
	run -2 infer -k x e d
	[[ $output == *"d: line 300005: column x: 'no\nnumber' is not a decimal number;"* ]]
}

@test "a bad value is found where CSV is cut into parts wrongly" {
	awk 'BEGIN {
		print "x,y"
		for (i = 0; i < 120000; i++)
			printf "%d,\"a\n%d,\"\n", i, i
		print "word,"
	}' >parts.csv
	fails_with "xsort: parts.csv: line 240002: column x: 'word' is not a decimal number; give the key a letter, as in -k 'x:n', to compare such values, too, or leave out --infer-types to compare text" \
		infer --parallel=2 -k x parts.csv
	head -n -1 parts.csv | infer --parallel=2 -k x:r | tail -n 1 | grep -qx '0,"'
}

@test "the sample is the first MiB, of a file, a pipe, slow pieces and compressed data" {
	needs gzip
	# The record that crosses the end of the sample does not count.
	python3 - <<-'P'
		head = b"x\n" + b"1\n" * ((1 << 19) - 2)
		for name, tail in ("in", b"a\n"), ("cross", b"22a\n"), ("cut", b"3a"):
		    open(name, "wb").write(head + tail)
	P
	says text in && says text <in
	says "decimal numbers (letter n)" cross && says "decimal numbers (letter n)" <cross
	for f in in cross cut; do
		infer --explain -k x "$f" 2>&1 | grep column >want
		cat "$f" | infer --explain -k x 2>&1 | grep column | cmp - want
		(head -c 1000 "$f" && sleep 0.1 && tail -c +1001 "$f") | infer --explain -k x 2>&1 | grep column | cmp - want
		gzip -c "$f" >f.gz
		infer --explain --decompress -k x f.gz 2>&1 | grep column | cmp - want
		cat f.gz | infer --explain --decompress -k x 2>&1 | grep column | cmp - want
	done
	run -2 infer -k x cross
	[[ $output == "xsort: cross: line $(wc -l <cross): column x: '22a' is not a decimal number;"* ]]
	cat cross | infer -k x:n | cmp - <("$xsort" --header -k1,1n cross)
}

@test "a pipe and a compressed file are read once" {
	needs gzip
	seq 100000 -1 1 | sed '1i x' >l
	infer -k x l >want
	cat l | infer -k x | cmp - want
	infer -k x - <l | cmp - want
	infer -k x <(cat l) | cmp - want
	gzip -c l | infer --decompress -k x | cmp - want
	gzip -c l >l.gz
	infer --decompress -k x l.gz | cmp - want
}

@test "-c: disorder by the type; a value that does not fit" {
	printf 'x\n9\n10\n8\n' >l
	run -1 infer -c -k x l
	[ "$output" = "xsort: l:4: disorder: 8" ]
	printf 'x\n9\n10\n11\n' | infer -c -k x
	printf 'x\n9\n10\n10\n' >l
	run -1 infer -cu -k x l
}

@test "records that end with NUL, and several records of a header" {
	printf 'x\0note\00010\0009\0' | "$xsort" -z --header=2 --infer-types -k x | cmp - <(printf 'x\0note\0009\00010\0')
	awk 'BEGIN { printf "x%c", 0; for (i = 0; i < 600000; i++) printf "1%c", 0; printf "no%c", 0 }' >z
	run -2 "$xsort" -z --header --infer-types -k x z
	[[ $output == "xsort: z: line 600002: column x: 'no' is not"* ]]
}

@test "what it needs, and what it excludes" {
	fails_with "xsort: --infer-types needs --header: types belong to the columns that a header names; add --header" \
		"$xsort" --infer-types -k2,2 goods.csv
	fails_with "xsort: --infer-types needs a key: add -k with the name of a column, such as -k price" infer goods.csv
	run -2 infer --splitters=2 -k price goods.csv
	[[ $output == *"--splitters"*"--infer-types"* ]]
	run -2 "$xsort" --infer-types --header --record-size=2 goods.csv
	[[ $output == *"--record-size"*"--infer-types"* ]]
}

@test "long values, control characters and names with them are printable" {
	{ printf '"a\033b"\n' && seq 200000 && printf '"x\033%s"\n' "$(seq -s '' 60)"; } >long.csv
	run -2 infer -k1,1 long.csv
	[[ $output == *"column a\\033b: 'x\\0331234567891011121314151617181920212223"*"...' is not a decimal number;"* ]]
}

@test "60 random columns are in the order of Python's int, Decimal, float and datetime" {
	needs python3
	cat >differ.py <<-'P'
		import csv, datetime, io, random, subprocess, sys
		from decimal import Decimal

		rng = random.Random(7)
		blank = lambda s: s.strip(" \t")

		def when(s):
		    s = blank(s).removesuffix("Z")
		    return datetime.datetime.fromisoformat(s) if s else datetime.datetime.min

		def a_time():
		    t = datetime.datetime(1, 1, 1) + datetime.timedelta(days=rng.randrange(3652059) if rng.random() < .5 else 738000 + rng.randrange(3))
		    if rng.random() < .3:
		        return str(t.date())
		    t += datetime.timedelta(microseconds=rng.choice([0, 1, 500000, rng.randrange(86400000000)]))
		    return t.isoformat(rng.choice("T ")) + rng.choice(["", "Z"])

		# The name of a type, its values, and their keys.
		types = {
		    "int": (lambda: str(rng.randrange(-50, 50) * 10 ** rng.choice([0, 0, 3, 30])), lambda s: int(blank(s) or 0)),
		    "decimal": (lambda: "%s%s.%s" % (rng.choice(["", "-", "-0"]), rng.randrange(20), str(rng.randrange(1000)).zfill(rng.randrange(9))),
		                lambda s: Decimal(blank(s) or 0)),
		    "float": (lambda: "%.17ge%+d" % (rng.uniform(-9, 9), rng.randrange(-290, 290)), lambda s: float(blank(s)) if blank(s) else -1e400),
		    "time": (a_time, when),
		}
		for case in range(60):
		    name = list(types)[case % 4]
		    value, key = types[name]
		    rows = [["", "n%d" % i] for i in range(rng.choice([1, 2, 50, 3000]))]
		    for r in rows:
		        r[0] = rng.choice(["", " "]) if rng.random() < .05 else rng.choice(["", "", "", " "]) + value() + rng.choice(["", "", " "])
		    # A column of empty values is text.
		    rows[0][0] = "1e0" if name == "float" else value()
		    letters, options = rng.choice(["", "r", "E", "rE", "b"]), rng.choice([[], ["-S600K"], ["--parallel=3"], ["-u"]])
		    reverse, last = "r" in letters, "E" in letters
		    want = sorted((r for r in rows if not last or r[0]), key=lambda r: key(r[0]), reverse=reverse)
		    want += [r for r in rows if last and not r[0]]
		    if options == ["-u"]:
		        seen = set()
		        of = lambda r: "" if last and not r[0] else key(r[0])
		        want = [r for r in want if not (of(r) in seen or seen.add(of(r)))]
		    text = io.StringIO()
		    csv.writer(text, lineterminator="\n", quoting=rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])).writerows([["k", "n"]] + rows)
		    command = [sys.argv[1], "--csv", "--header", "--infer-types", "-s", "-k", "k" + (":" if letters else "") + letters] + options
		    if rng.random() < .5:
		        open("in.csv", "w").write(text.getvalue())
		        got = subprocess.run(command + ["in.csv"], capture_output=True, text=True)
		    else:
		        got = subprocess.run(command, input=text.getvalue(), capture_output=True, text=True)
		    out = list(csv.reader(io.StringIO(got.stdout)))[1:]
		    if got.returncode or out != want:
		        at = next((i for i, p in enumerate(zip(out, want)) if p[0] != p[1]), None)
		        sys.exit(f"case {case} {name} {command[6:]}: {got.stderr} record {at}: {out[at] if at is not None else len(out)} not {want[at] if at is not None else len(want)}")
	P
	python3 differ.py "$xsort"
}

@test "types come from all files, and a column without values there is read on" {
	printf 'a,n\nx,\n' >first && printf 'a,n\ny,10\nz,9\n' >second
	[ "$(infer -k n first second | tail -n +2 | tr '\n' ' ')" = 'x, z,9 y,10 ' ]
	printf 'a,n\nw,b\n' >third
	[ "$(infer -k n first second third | tail -n +2 | tr '\n' ' ')" = 'x, y,10 z,9 w,b ' ]
	(echo a,n && yes x, | head -n 700000 && printf 'y,10\nz,9\n') >long
	[ "$(infer -k n long | tail -n 2 | tr '\n' ' ')" = 'z,9 y,10 ' ]
	printf 'y,10\nz,9\n' >fifth
	[ "$("$xsort" --csv --header=1,first --infer-types -k n first fifth | tail -n 2 | tr '\n' ' ')" = 'z,9 y,10 ' ]
}

@test "a value in a pipe after samples without values is an error" {
	(echo a,n && yes x, | head -n 400000 && printf 'y,10\nz,9\n') >long
	fails_with "xsort: -: line 400002: column n: '10' comes after samples without values; give the key a letter, as in -k 'n:n', to compare such values, too, or leave out --infer-types to compare text" \
		bash -c "cat long | '$xsort' --csv --header --infer-types -k n"
	run -0 --separate-stderr infer -k n <<<$'a,n\nx,'
	[ -z "$stderr" ]
}

@test "a warning names a column of dates that are not of ISO 8601" {
	for dates in '12/01/2024\n01/02/2025' '2024-01-01\n1.2.2024' '1-Feb-2024' '2024-01-01T10:00:00+02:00\n'; do
		printf "d\n$dates\n" >in
		run -0 --separate-stderr infer -k d in
		[ "$stderr" = "xsort: warning: column 'd' is compared as text: its dates are not all written as 2026-11-26" ]
	done
	for texts in '1.2.3' '12/01/2024\nNA' 'a/b/c' '2024-01-01' '12-01-24'; do
		printf "d\n$texts\n" >in
		run -0 --separate-stderr infer -k d in
		[ -z "$stderr" ]
	done
}
