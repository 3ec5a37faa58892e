/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include "msg.h"
#include "xsort.h"

static const char ordering[] =
	"GNU sort's options, ordering:\n"
	"  -b, --ignore-leading-blanks  ignore blanks at the start of keys\n"
	"  -d, --dictionary-order    compare blanks, letters and digits only\n"
	"  -f, --ignore-case         treat lower case as upper case\n"
	"  -g, --general-numeric-sort  by value of floating-point numbers\n"
	"  -h, --human-numeric-sort  by value of numbers such as 2K and 1G\n"
	"  -i, --ignore-nonprinting  compare printable characters only\n"
	"  -M, --month-sort          by month: unknown, then JAN to DEC\n"
	"  -n, --numeric-sort        by value of decimal numbers\n"
	"  -R, --random-sort         in random order, equal keys together\n"
	"      --random-source=FILE  read the random bytes from FILE\n"
	"  -r, --reverse             reverse the order\n"
	"      --sort=WORD           one of general-numeric (-g), human-numeric (-h),\n"
	"                            month (-M), numeric (-n), random (-R), version (-V)\n"
	"  -V, --version-sort        numbers within text by value\n"
	"\n";

static const char other[] =
	"GNU sort's options, other:\n"
	"      --batch-size=N        merge at most N runs at once\n"
	"  -c, --check[=diagnose-first]  check that the input is in order; do not sort\n"
	"  -C, --check=quiet, --check=silent  the same, by exit status only\n"
	"      --compress-program=PROG  compress temporary data with PROG, and\n"
	"                            decompress it with PROG -d\n"
	"      --debug               underline the keys in each line; warn about keys\n"
	"      --files0-from=F       read input names from F, each terminated by NUL\n"
	"  -k, --key=KEYDEF          sort by this part of the record; may be repeated\n"
	"  -m, --merge               merge inputs that are already sorted\n"
	"  -o, --output=FILE         write to FILE, which may be an input\n"
	"  -s, --stable              keep records with equal keys in input order\n"
	"  -S, --buffer-size=SIZE    memory for the whole program, plus up to 16 MB and\n"
	"                            three times the longest huge record\n"
	"  -t, --field-separator=SEP  fields end at SEP, not where blanks begin\n"
	"  -T, --temporary-directory=DIR  put temporary data in DIR, not in $TMPDIR or\n"
	"                            /tmp; may be repeated\n"
	"      --parallel=N          use N threads\n"
	"  -u, --unique              write only the first record of equal keys; with -c,\n"
	"                            treat equal keys as disorder\n"
	"  -z, --zero-terminated     records end with NUL, not newline\n"
	"      --help                print this and exit\n"
	"      --version             print the version and what was built in\n"
	"\n";

static const char records[] =
	"Spindle's own options, records:\n"
	"      --header[=N[,first]]  the first N records (1) of each input, or of the\n"
	"                            first only, are a header: written once, first\n"
	"      --csv                 RFC 4180 records; fields end at SEP of -t, or comma\n"
	"      --record-size=N       binary records of N bytes each\n"
	"      --bkey=OFFSET:LENGTH[:TYPE][:r]  key of binary records; TYPE is bytes,\n"
	"                            or u8 to u64, i8 to i64, f32, f64 with le or be\n"
	"      --top=N               write only the first N records of the result\n"
	"      --count[=NAME]        with -u: prefix each record with its number of\n"
	"                            occurrences; with --csv: a column NAME (count)\n"
	"      --split=FILE          cut the result at the records of FILE, which are in\n"
	"                            order; the parts go to the names of -o, in which %d\n"
	"                            is their number from 0\n"
	"      --decompress[=FORMAT]  inputs are compressed: gzip, zstd, lz4, xz; without\n"
	"                            FORMAT, those that show it by their first bytes\n"
	"      --compress-output[=FORMAT]  write gzip, zstd or lz4; or without FORMAT, as\n"
	"                            the suffix of the name of -o says\n"
	"      --splitters=P         do not sort; write P - 1 records, found by sampling,\n"
	"                            for P parts of about equal size\n"
	"      --resume=DIR          with -o: checkpoints in DIR, instead of -T; after a\n"
	"                            crash the same command goes on from there\n"
	"\n"
	"Spindle's own options, reporting:\n"
	"      --explain             print the plan on standard error; do not sort\n"
	"      --stats[=FILE]        write a report as JSON to FILE; without it, as text\n"
	"                            on standard error\n"
	"      --trace=FILE          write every block request to FILE\n"
	"      --progress[=WHEN]     auto, always or never\n"
	"      --seed=N              seed all random choices with N\n"
	"      --usage               print a short usage message and exit\n"
	"\n";

static const char tuning[] =
	"Spindle's own options, by default chosen from a cost model:\n"
	"      --run-formation=HOW   load, replacement, auto\n"
	"      --run-size=SIZE       memory for one run\n"
	"      --merge-policy=HOW    lazy, eager, polyphase, mms, ppms, auto\n"
	"      --fan-in=N            merge N runs at once\n"
	"      --merge-buffer=SIZE   memory for the read buffers of one merge\n"
	"      --readahead=HOW       none, double, equal, forecast, extended, cluster or\n"
	"                            auto\n"
	"\n"
	"Spindle's own options, temporary space:\n"
	"      --volume=WHERE        dir:PATH, as -T PATH; block:DEVICE; or\n"
	"                            sim:MODEL[,KEY=VALUE]..., a simulated machine in\n"
	"                            virtual time\n"
	"      --overwrite           allow all data on block:DEVICE to be overwritten\n"
	"      --geometry=FILE       geometry of the device, from diskprobe\n"
	"      --placement=HOW       placement of runs: contiguous, track, semiseq,\n"
	"                            auto\n"
	"      --engine=NAME         io_uring, libaio, sync, null, auto\n"
	"      --direct[=WHEN]       bypass the page cache: auto, always or never\n"
	"      --page-size=SIZE      unit of temporary data\n"
	"      --recycle=WHICH       reuse space of merged runs: none, all, or of merge\n"
	"                            levels 0 to WHICH\n"
	"      --require-space       refuse to sort if -T may lack the space\n"
	"      --spill-compression=HOW  lz4, zstd, none\n"
	"\n";

static const char notes[] =
	"KEYDEF is F[.C][OPTS][,F[.C][OPTS]]: from character C of field F to the end of\n"
	"the second such position or, without it, of the record; both count from 1.\n"
	"OPTS are letters from bdfgiMhnRrV and replace the global ones for this key.\n"
	"With --header it may be NAME[:OPTS], the column of this name.\n"
	"\n"
	"SIZE takes the suffixes b (bytes), K, M, G, T, P, E (powers of 1024) and % (of\n"
	"the machine's memory); without one, -S is in KiB and other sizes in bytes.\n"
	"\n"
	"LC_ALL and LC_COLLATE decide the order of text; LC_ALL=C orders by bytes.\n"
	"\n"
	"Exit status: 0 on success, 1 if -c or -C found disorder, 2 after an error.\n";

void help_print(void)
{
	const char *me = msg_program();

	printf("Usage: %s [OPTION]... [FILE]...\n"
	       "  or:  %s [OPTION]... --files0-from=F\n"
	       "Write the records of all FILEs to standard output, sorted.  With no FILE, or\n"
	       "when FILE is -, read standard input.\n\n",
	       me, me);
	fputs(ordering, stdout);
	fputs(other, stdout);
	fputs(records, stdout);
	fputs(tuning, stdout);
	fputs(notes, stdout);
}

void usage_print(void)
{
	printf("Usage: %s [-bdfghiMnRrVcCmsuz] [-k KEYDEF]... [-o FILE] [-S SIZE] [-t SEP]\n"
	       "        [-T DIR]... [--batch-size=N] [--check[=WORD]]\n"
	       "        [--compress-program=PROG] [--debug] [--files0-from=F] [--parallel=N]\n"
	       "        [--random-source=FILE] [--sort=WORD] [--header[=N[,first]]] [--csv]\n"
	       "        [--record-size=N [--bkey=OFFSET:LENGTH[:TYPE][:r]]...] [--top=N]\n"
	       "        [--count[=NAME]] [--split=FILE] [--splitters=P] [--resume=DIR]\n"
	       "        [--explain] [--stats[=FILE]] [--trace=FILE]\n"
	       "        [--progress[=WHEN]] [--seed=N] [--run-formation=HOW]\n"
	       "        [--run-size=SIZE] [--merge-policy=HOW] [--fan-in=N]\n"
	       "        [--merge-buffer=SIZE] [--readahead=HOW] [--page-size=SIZE]\n"
	       "        [--recycle=WHICH] [--spill-compression=HOW] [--volume=WHERE]\n"
	       "        [--overwrite] [--geometry=FILE] [--placement=HOW]\n"
	       "        [--engine=NAME] [--direct[=WHEN]] [--help] [--version] [--usage]\n"
	       "        [FILE]...\n",
	       msg_program());
}
