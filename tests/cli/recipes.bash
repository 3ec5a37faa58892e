# shellcheck shell=bash
# shellcheck disable=SC2154 # who sources this sets top and build
# SPDX-License-Identifier: MIT
#
# What recipes of spindle-recipes(7) need.  top and build are the folders of the source and the build.

needs awk gzip python3

# lacks NAME: prints the reason if this system lacks what a recipe needs.
lacks()
{
	case $1 in
	/dev/*) [ -r "$1" ] || echo "there is no $1 that can be read" ;;
	mount) echo "tests/cli/vdisk.bats mounts drives" ;;
	libspindle) pkg-config --exists libspindle 2>/dev/null && cc --version >/dev/null 2>&1 ||
		echo "no C compiler, or no shared library in $build/lib" ;;
	numpy) python3 -c 'import numpy, spindle_io' 2>/dev/null || echo "numpy, or the Python package, is missing" ;;
	spindle_io) python3 -c 'import spindle_io' 2>/dev/null || echo "the Python package has not been built" ;;
	duckdb | spindle-ray) command -v "$1" >/dev/null || echo "$1 is not installed" ;;
	*) command -v "$1" >/dev/null || echo "needs $1" ;;
	esac
}
# make_data: the files that recipes name.
make_data()
{
	mkdir disk1 disk2 names && touch names/{b,a,"with space"}
	xgen lines -n 50000 --seed=3 -o big.txt
	seq 2000 | awk '{ print ($1 * 7919) % 2003 }' >numbers
	xgen orders --scale=0.001 --shuffle -o orders.tbl
	printf '%s\n' 7 32 100 | awk 'NR == FNR { w[$1]; next } $1 in w' - <(cut -d'|' -f1 orders.tbl) >wanted
	seq 300 | awk '{ printf "10.0.%d.%d - - [26/Nov/2026:10:00:%02d +0000] \"GET /%d HTTP/1.1\" 200 %d\n", $1 % 7, $1 % 250, $1 % 60, $1, ($1 * 7919) % 100003 }' >access.log
	seq 300 | awk '{ printf "{\"user\": {\"name\": \"%s\"}, \"ms\": %d%s}\n", $1 % 3 ? "ann" : "bob", ($1 * 7919) % 1009, $1 % 2 ? ", \"tags\": [\"x\", " $1 "]" : "" }' >logs.jsonl
	seq 500 | awk '{ printf "2026-11-%02d message %d\n", 1 + $1 % 28, $1 }' >messages
	split -n l/4 messages part.
	mv part.aa log && gzip -c part.ab >log.1.gz && { [ -n "$(lacks zstd)" ] || zstd -q -o log.2.zst part.ac; }
	[ -n "$(lacks xz)" ] || xz -c part.ad >log.3.xz
	rm -f part.*
	seq 100 | awk '{ print "file" ($1 * 37) % 101 ".txt"; print "v1." $1 % 12 "." $1 }' >files
	seq 200 | awk '{ print ($1 * 7) % 256 "." ($1 * 31) % 256 "." $1 % 3 "." $1 }' >addresses
	seq 200 | awk '{ print int($1 * 7919 % 1000) / 10 substr("KMG", 1 + $1 % 3, 1) " name" $1 }' >sizes
	seq 300 | awk '{ print substr("JanFebMarAprMayJunJulAugSepOctNovDec", 1 + 3 * ($1 * 5 % 12), 3), 1 + $1 % 28, "10:" 10 + $1 % 50 ":00", "text", $1 }' >syslog
	seq 300 | awk '{ printf "%d,%04d-%02d-%02d\n", $1, 2000 + $1 % 27, 1 + $1 % 12, 1 + $1 * 11 % 28 }' >days
	seq 300 | awk '{ printf "%ge%d\n", $1 * 7 % 31, $1 % 9 - 4 }' >floats
	seq 900 | awk '{ printf "%s%d\n", $1 % 2 ? "Word" : "word", ($1 * $1) % 97 }' >words
	seq 5 7 40 >>words
	seq 200 | awk '{ print ($1 % 3 ? "Mail" : "mail") $1 % 41 "@example.org" }' >mails
	{ echo name number; seq 100 | awk '{ print "n" $1, $1 * 37 % 101 }'; } >table.txt
	seq 100 | awk '{ print "name " $1 "\t" $1 * 37 % 101 }' >tabs.txt
	seq 100 | sort >ordered
	seq 51 3 300 | sort >ordered.2
	seq 300 | awk '{ print "k" $1 * 37 % 101, "l" $1 }' >left.txt
	seq 2 2 160 | awk '{ print "k" $1 * 7 % 103, "r" $1 }' >right.txt
	seq 3 3 99 | awk '{ print "k" $1, "s" $1 }' >single
	gzip -c left.txt >left.gz
	seq 200 | awk '{ printf "{\"at\":%d,\"user\":{\"id\":%d.0}}\n", $1, $1 * 37 % 60 }' >events.jsonl
	seq 40 | awk '{ printf "{\"id\":%d,\"name\":\"n%d\"}\n", $1, $1 }' >users.jsonl
	{ echo '['; sed '$!s/$/,/' users.jsonl; echo ']'; } >users.json
	{ head -n 50 logs.jsonl; echo '{"user": '; tail -n +51 logs.jsonl; } >mixed.jsonl
	seq 100 | awk '{ print "a" $1 % 10, "d" $1 % 7, $1 }' >sales
	seq 0 8 | awk '{ for (d = 0; d < 5; d++) print "a" $1, "d" d, $1 * d + 1 }' >prices
	printf 'Ab 1\ncD 2\nef 3\n' >words.l
	printf 'AB x\nCd y\ngh z\n' >words.r
	printf '007 a\n12 b\n1.50 c\n' >padded
	printf '7 x\n12.0 y\n1.5 z\n' >plain
	printf '%s:x:%d:%d:::\n' ann 1 10 bob 2 20 cid 3 10 >passwd
	printf '%s:x:%d:\n' staff 10 users 20 none 30 >group
	printf 'customer;day;total\n' >shop.csv
	seq 90 | awk '{ printf "c%d;2026-%02d-%02d;%d\n", $1 % 11, 1 + $1 % 12, 1 + $1 % 28, $1 }' >>shop.csv
	printf '%s\n' region,amount ,5 north,7 ,9 east,1 north,30 >sparse.csv
	printf '%s\n' id,when 1,2026-11-26T09:30:00.5Z '2,2026-11-26 09:30:00' 3,2026-11-26T09:30:00.25 4,2026-11-26 5, \
		6,2026-11-26T09:30:00.0Z 7, >events.csv
	{
		echo day,price,qty
		seq 200 | awk '{ printf "2026-%02d-%02d,%d.%02d,%d\n", 1 + $1 % 12, 1 + $1 % 28, $1 * 7 % 90, $1 * 31 % 100, 1 + $1 % 5 }'
	} >orders.csv
	{
		echo time,user,endpoint,status,ms,bytes,agent
		seq 400 | awk '{ printf "2026-11-%02d %02d:00:00,u%d,/e%d,%d,%d.%d,%d,%s\n", 1 + $1 % 9, $1 % 24, $1 * 7 % 31, $1 % 5,
			$1 % 13 % ($1 % 5 + 2) ? 200 : 500 + $1 % 4, $1 * 37 % 901, $1 % 10, $1 * 7919 % 10007, $1 % 6 ? "browser" : "bot 1" }'
	} >requests.csv
	printf '%s\n' article,day a1,d1 a2,d2 a1,d3 a9,d4 >sales.csv
	printf '%s\n' id,price a1,10 a2,20 a3,30 >articles.csv
	cp "$top/examples/04-sort-batches.c" .
	printf '[job]\nrw=randread\nbs=4k\nsize=8m\nruntime=1\ntime_based\niodepth=4\nfilename=job.dat\n' >job.fio
	truncate -s 8M job.dat
	python3 - <<-'P'
		import csv, random, struct
		rng = random.Random(1)
		with open("goods.csv", "w", newline="") as f:
		    w = csv.writer(f, lineterminator="\n")
		    w.writerow(["name", "price", "city"])
		    for i in range(200):
		        w.writerow([rng.choice(["a \"big\" %d", "two\nlines %d", "x, y %d"]) % i, rng.randrange(1, 50), "c%d" % rng.randrange(9)])
		with open("records.bin", "wb") as f:
		    for i in range(3000):
		        f.write(struct.pack(">Q", rng.getrandbits(64)) + struct.pack("<d", rng.gauss(0, 1e6)))
		head = "{'descr': '<i4', 'fortran_order': False, 'shape': (8, 6, 4), }"
		head += " " * (64 - (10 + len(head) + 1) % 64) + "\n"
		with open("a.npy", "wb") as f:
		    f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
		    for x in range(8):
		        for y in range(6):
		            for z in range(4):
		                f.write(struct.pack("<i", 100 * x + 10 * y + z))
	P
}
