#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Keys that name columns of a header.
# no threads
. "$BATS_TEST_DIRNAME/suite.bash"

setup()
{
	begin_test
	printf 'name,price,"a ""q"", x"\nbob,3,z\nann,10,y\n"carl\nII",2,x\n' >c.csv
}

@test "a column that only CSV has: the message says how columns are separated" {
	printf 'name,price\na,1\n' >g.csv
	run -2 "$xsort" --header -k price g.csv
	[ "$output" = "xsort: g.csv: the header has no column 'price'; without -t or --csv, blanks separate columns" ]
}

@test "a column's name is a key, from a file, a pipe and a process" {
	"$xsort" --csv --header -k2,2n c.csv >want
	"$xsort" --csv --header -k price:n c.csv | cmp - want
	"$xsort" --csv --header -k price:n <c.csv | cmp - want
	cat c.csv | "$xsort" --csv --header -k price:n | cmp - want
	"$xsort" --csv --header -k price:n <(cat c.csv) | cmp - want
	"$xsort" --csv --header -k3,3r c.csv | cmp - <("$xsort" --csv --header -k '"a ""q"", x":r' c.csv)
	"$xsort" --csv --header -k price:n -k1 c.csv | cmp - want
}

@test "names in lines, with and without a separator, a zero byte and several header records" {
	printf 'id  total\n2 1\n1 2\n' >l
	"$xsort" --header -k total:nr l | cmp - <(printf 'id  total\n1 2\n2 1\n')
	printf 'a:b\nnote\n2:1\n1:2' | "$xsort" --header=2 -t: -k '"b":nr' | cmp - <(printf 'a:b\nnote\n1:2\n2:1\n')
	printf 'a b\0002 1\0001 2\000' | "$xsort" -z --header -k b:nr | cmp - <(printf 'a b\0001 2\0002 1\000')
}

@test "the header of the first input counts, and all are compared" {
	printf 'name,price\nx,1\n' >d.csv
	printf 'name,price\ny,2\n' | "$xsort" --csv --header -k price:nr - d.csv | cmp - <(printf 'name,price\ny,2\nx,1\n')
	printf 'name,price\ny,2\n' | "$xsort" --csv --header=1,first -k price:nr - <(echo z,3) |
		cmp - <(printf 'name,price\nz,3\ny,2\n')
	printf 'price,name\ny,2\n' >e.csv
	run -2 bash -c "cat d.csv | '$xsort' --csv --header -k price - e.csv"
	[[ $output == *"header differs"* ]]
}

@test "-c counts the lines of a header that it has read" {
	run -1 "$xsort" --csv --header -c -k name c.csv
	[[ $output == "xsort: c.csv:3: disorder: ann,10,y" ]]
	run -1 "$xsort" --csv --header -c -k name <c.csv
	[[ $output == "xsort: -:3: disorder: ann,10,y" ]]
	cat c.csv | "$xsort" --csv --header -c -k '"a ""q"", x":r'
}

@test "a name that is not a column is an error" {
	run -2 "$xsort" --csv --header -k prise:n c.csv
	[[ $output == "xsort: c.csv: the header has no column 'prise'; the nearest is 'price'" ]]
	run -2 "$xsort" --csv --header -k weight c.csv
	[[ $output == "xsort: c.csv: the header has no column 'weight'" ]]
	run -2 "$xsort" --csv --header -k name -k 4 c.csv
	[[ $output == "xsort: c.csv: the header has 3 columns, not 4" ]]
	run -2 "$xsort" --csv --header -k '"name' c.csv
	[[ $output == *"is not closed"* ]]
	run -2 "$xsort" --csv --header -k name:q c.csv
	[[ $output == *"stray character in field spec"*"'name:q'" ]]
	printf 'a,a\n1,2\n' >twice
	run -2 "$xsort" --csv --header -k a twice
	[[ $output == *"the header has two columns 'a'" ]]
	run -2 "$xsort" --csv --header -k a /dev/null
	[[ $output == *"/dev/null: there is no header"* ]]
	printf 'a,"b\n1,2\n' >open
	run -2 "$xsort" --csv --header -k a open
	[[ $output == *"open: a quoted name of the header is not closed" ]]
	run -2 "$xsort" --csv --header -k a missing
	[[ $output == *"cannot read: missing: No such file or directory" ]]
}

@test "a number beyond the header of CSV is an error, with a name or without" {
	for how in 'c.csv' '- <c.csv' '<(cat c.csv)'; do
		run -2 bash -c "'$xsort' --csv --header -k1,1 -k4 $how"
		[[ $output == *": the header has 3 columns, not 4" ]]
		bash -c "'$xsort' --csv --header -k2,2n $how" | cmp - <("$xsort" --csv --header -k price:n c.csv)
		for options in '-1 4 -2 1' '-j1 -o 2.2,1.4' '-j1 -o 2.price,1.4'; do
			run -1 bash -c "'$xjoin' --csv --header $options $how c.csv"
			[[ $output == *": the header has 3 columns, not 4" ]]
		done
	done
	"$xindex" build --csv --header -k1,1 -o c.csv.index c.csv
	run -1 "$xjoin" --csv --header -j1 c.csv c.csv --algorithm=inl --index2=c.csv.index --then=c.csv,left=1.5,key=1,index=c.csv.index
	[[ $output == *": the header has 3 columns, not 5" ]]
	[ -z "$("$xsort" --csv --header -k4 </dev/null)" ]
	printf '# a comment\n3 1\n2 2\n' | "$xsort" --header -k4 -k2,2n >/dev/null
}

@test "a byte order mark is not part of a name" {
	{ printf '\xef\xbb\xbf'; cat c.csv; } >marked
	"$xsort" --csv --header -k name marked | cmp - <("$xsort" --csv --header -k1,1 marked)
	"$xsort" --csv --header -k name <marked | cmp - <("$xsort" --csv --header -k1,1 marked)
}

@test "without a header the message says what is missing; as sort, GNU's message stays" {
	fails_with "xsort: -k 'name': to name columns, add --header" "$xsort" -k name c.csv
	fails_with "xindex: -k 'name': to name columns, add --header" "$xindex" build -k name -o i c.csv
	ln -s "$(readlink -f "$xsort")" sort
	run -2 ./sort --csv --header -k name c.csv
	[[ $output == *"invalid number at field start: invalid count at start of 'name'" ]]
}

@test "xindex: a key by name" {
	"$xindex" build --csv --header -k price:n -o i c.csv
	"$xindex" build --csv --header -k2,2n -o j c.csv
	cmp i j
	"$xindex" lookup i 10 | cmp - <(echo ann,10,y)
	run -2 "$xindex" build --csv --header -k prise -o i c.csv
	[[ $output == *"the nearest is"*"price"* ]]
	run -2 "$xindex" build --csv -k price -o i c.csv
	[[ $output == *"price"* ]]
}

@test "xjoin: keys and columns by name, from files and pipes" {
	printf 'id,day,name\n1,mo,bob\n2,tu,ann\n3,we,carl\n' >l
	printf 'total,key,"a, b"\n10,2,x\n20,1,y\n7,9,z\n' >r
	"$xjoin" --csv --header -1 1 -2 2 --ordered=1 l r >want
	for a in hybrid auto nested; do
		"$xjoin" --csv --header --algorithm=$a -1 id -2 key --ordered=1 l r | cmp - want
		cat r | "$xjoin" --csv --header --algorithm=$a -1 id -2 key --ordered=1 l - | cmp - want
		"$xjoin" --csv --header --algorithm=$a -1 id -2 key --ordered=1 - <(cat r) <l | cmp - want
	done
	"$xjoin" --csv --header -1 id:n -2 key:n -o '1.name,2.total,2."a, b",0' --ordered=1 l r |
		cmp - <(printf 'name,total,"a, b",id\nbob,20,y,1\nann,10,x,2\n')
	"$xjoin" --csv --header -j id,day -o 1.name l l | sort | cmp - <(printf 'ann\nbob\ncarl\nname\n')
	printf 'k v\n1 a\n' >m
	"$xjoin" --header -j k m m | cmp - <(printf 'k v v\n1 a a\n')
	"$xindex" build --csv --header -k key -o i r
	"$xjoin" --csv --header -1 id -2 key --algorithm=async-inl --index2=i --ordered=1 l r | cmp - want
	cat l | "$xjoin" --csv --header -1 id -2 key --algorithm=async-inl --index2=i --ordered=1 - r | cmp - want
}

@test "xjoin: a name that is not a column is an error, and GNU's message stays" {
	printf 'id,name\n1,bob\n' >l
	run -1 "$xjoin" --csv --header -j id -o 1.nme l l
	[[ $output == "xjoin: l: the header has no column 'nme'; the nearest is 'name'" ]]
	run -1 "$xjoin" --csv --header -j id -1 name l l
	[[ $output == "xjoin: incompatible join fields id, name" ]]
	run -1 "$xjoin" --csv --header -1 id:q -2 id l l
	[[ $output == *"invalid field number"* ]]
	run -1 "$xjoin" --csv --header -1 id -2 id missing l
	[[ $output == "xjoin: missing: No such file or directory" ]]
	for o in "-1 id" "-j id" "-o 1.id"; do
		# shellcheck disable=SC2086
		run -1 "$xjoin" --csv $o l l
		[[ $output == "xjoin: invalid field number: 'id'; to name columns, add --header" ]]
	done
	ln -s "$(readlink -f "$xjoin")" join
	run -1 ./join --header -1 id l l
	[[ $output == "join: invalid field number: 'id'" ]]
}

# The model: a name of several columns of the result gets the suffix of its column's file.
@test "xjoin --suffixes renames only columns that share a name, in any form of a result" {
	needs python3
	cat >model.py <<'EOF'
import csv, random, subprocess, sys
xjoin, rng = sys.argv[1], random.Random(38)
names = ["id", "a", "b", "a b", 'q"q', "c,c", "id_1", "é", "", "x"]


def table(path, n, dialect):
    header = rng.sample(names, n)
    with open(path, "w", newline="") as f:
        w = csv.writer(f, lineterminator=rng.choice(["\n", "\r\n"]), quoting=dialect)
        w.writerow(header)
        w.writerows([rng.randrange(9) for _ in header] for _ in range(20))
    return header


def run(args):
    return subprocess.run([xjoin, "--csv", "--header", "--ordered=1", *args, "a", "b"], capture_output=True, text=True)


renamed = refused = 0
for case in range(150):
    quoting = rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
    heads = [table("a", rng.randrange(1, 6), quoting), table("b", rng.randrange(1, 6), quoting)]
    keys = [rng.randrange(len(h)) for h in heads]
    args = ["-1", str(keys[0] + 1), "-2", str(keys[1] + 1), "--parallel=%d" % rng.choice([1, 2, 3, 8])]
    args += rng.choice([[], ["-a", "2"], ["-v", "1"], ["--type=full", "-e", "none"]])
    columns = [(0, keys[0])] + [(f, k) for f in (0, 1) for k in range(len(heads[f])) if k != keys[f]]
    if rng.random() < 0.4:
        columns = [(f, rng.randrange(len(heads[f]))) for f in rng.choices((0, 1), k=4)]
        args += ["-o", ",".join("%d.%d" % (f + 1, k + 1) for f, k in columns)]
    suffixes = rng.choice([("_1", "_2"), ("", "_r"), (".l", "\"'"), ("+", "-")])
    own = [heads[f][k] for f, k in columns]
    want = [n + suffixes[f] if own.count(n) > 1 else n for n, (f, k) in zip(own, columns)]
    option = "--suffixes" + ("" if suffixes == ("_1", "_2") else "=" + ",".join(suffixes))
    plain, got = run(args), run([*args, option])
    if len(set(want)) < len(want):
        assert got.returncode == 1 and "two columns of the result have the name" in got.stderr, (case, got)
        refused += 1
        continue
    assert got.returncode == 0 and not got.stderr, (case, got)
    plain, got = (list(csv.reader(r.stdout.split("\n")[:-1])) for r in (plain, got))
    if "-e" in args:  # also fills names
        own, want = ([n or "none" for n in names] for names in (own, want))
    assert plain[0] == own and got[0] == want and got[1:] == plain[1:], (case, args, plain[0], got[0], want)
    renamed += own != want
assert renamed > 30 and refused > 10, (renamed, refused)
EOF
	python3 model.py "$xjoin"
}

@test "xjoin --suffixes: lines, merging, further files, and what is refused" {
	printf '%s\n' id,n,v 1,x,p 2,y,q >a
	printf '%s\n' n,id,w 5,1,r 6,2,s >b
	printf '%s\n' code,n 5,five 6,six >c
	"$xindex" build --csv --header -k id -o bi b
	"$xindex" build --csv --header -k code -o ci c
	printf '%s\n' id,n,v,n_,w,n.3 1,x,p,5,r,five 2,y,q,6,s,six >want
	for n in 1 3; do
		"$xjoin" --csv --header -j id --parallel=$n --ordered=1 --index2=bi --suffixes=,_,.3 \
			--then=c,left=2.n,key=code,index=ci a b | cmp - want
	done
	run -1 "$xjoin" --csv --header -j id --index2=bi --suffixes=,_ --then=c,left=2.n,key=code,index=ci a b
	[ "$output" = "xjoin: --suffixes: 3 files need as many suffixes, separated by commas, not 2" ]
	"$xjoin" -t, --header -1 1 -2 2 --suffixes --algorithm=merge a b | cmp - <(printf '%s\n' id,n_1,v,n_2,w 1,x,p,5,r 2,y,q,6,s)
	tr , ' ' <a >a.s
	"$xjoin" --header --suffixes a.s a.s --ordered=1 | cmp - <(printf '%s\n' 'id n_1 v_1 n_2 v_2' '1 x p x p' '2 y q y q')
	run -1 "$xjoin" --header '--suffixes= 1,_2' a.s a.s
	[ "$output" = "xjoin: a suffix of names of columns contains the separator" ]
	run -1 "$xjoin" --suffixes a b
	[ "$output" = "xjoin: --suffixes needs --header" ]
	"$xjoin" --csv --header -j id --suffixes a /dev/null --type=left | cmp - a
	"$xjoin" --csv --header -j id --suffixes --type=anti a /dev/null | cmp - a
	"$xjoin" --csv --header -j id --suffixes -a 2 /dev/null a | cmp - a
}
