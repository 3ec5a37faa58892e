/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include "msg.h"
#include "xsort.h"

static const char ordering[] =
	"GNU sort's options, ordering:\n"
	"  -b, --ignore-leading-blanks  leave blanks at the start of keys out\n"
	"  -d, --dictionary-order    look at blanks, letters and digits alone\n"
	"  -f, --ignore-case         treat lower case as upper case\n"
	"  -g, --general-numeric-sort  by value of floating-point numbers\n"
	"  -h, --human-numeric-sort  by value of numbers such as 2K and 1G\n"
	"  -i, --ignore-nonprinting  look at printable characters alone\n"
	"  -M, --month-sort          by month: unknown, then JAN to DEC\n"
	"  -n, --numeric-sort        by value of decimal numbers\n"
	"  -R, --random-sort         in random order, equal keys together\n"
	"      --random-source=FILE  take the randomness from FILE\n"
	"  -r, --reverse             turn the order round\n"
	"      --sort=WORD           one of general-numeric (-g), human-numeric (-h),\n"
	"                            month (-M), numeric (-n), random (-R), version (-V)\n"
	"  -V, --version-sort        numbers within text by value\n"
	"\n";

static const char other[] =
	"GNU sort's options, other:\n"
	"      --batch-size=N        merge no more than N runs at once\n"
	"  -c, --check[=diagnose-first]  say whether the input is in order; do not sort\n"
	"  -C, --check=quiet, --check=silent  the same by exit status alone\n"
	"      --compress-program=PROG  pass temporary data through PROG, and PROG -d\n"
	"      --debug               show what each key is made of; warn about keys\n"
	"      --files0-from=F       inputs are named in F, each name ended by NUL\n"
	"  -k, --key=KEYDEF          sort by this part of the record; may be repeated\n"
	"  -m, --merge               inputs are in order already: merge them\n"
	"  -o, --output=FILE         write to FILE, which may be an input\n"
	"  -s, --stable              records with equal keys keep their sequence\n"
	"  -S, --buffer-size=SIZE    memory for the whole program; up to 16 MB and three\n"
	"                            times the longest of huge records come on top\n"
	"  -t, --field-separator=SEP  fields end at SEP, not where blanks begin\n"
	"  -T, --temporary-directory=DIR  put temporary data in DIR, not in $TMPDIR or\n"
	"                            /tmp; may be repeated\n"
	"      --parallel=N          use N threads\n"
	"  -u, --unique              one record of those with equal keys; with -c,\n"
	"                            equal keys are disorder\n"
	"  -z, --zero-terminated     records end with NUL, not newline\n"
	"      --help                print this and exit\n"
	"      --version             print the version and exit\n"
	"\n";

static const char records[] =
	"Spindle's own options, records:\n"
	"      --header[=N[,first]]  the first N records (1) of each input, or the\n"
	"                            first, are its header: written once, before all\n"
	"      --csv                 RFC 4180 records; fields end at SEP of -t, or comma\n"
	"      --record-size=N       binary records of N bytes each\n"
	"      --bkey=OFFSET:LENGTH[:TYPE][:r]  key of binary records; TYPE is bytes,\n"
	"                            or u8 to u64, i8 to i64, f32, f64 with le or be\n"
	"      --top=N               write the first N records of the result alone\n"
	"      --count               with -u: put the number of equals before each record\n"
	"\n"
	"Spindle's own options, reporting:\n"
	"      --explain             print the plan on standard error; do not sort\n"
	"      --stats[=FILE]        write a report as JSON; standard error if no FILE\n"
	"      --trace=FILE          write every block request to FILE\n"
	"      --progress[=WHEN]     auto, always or never\n"
	"      --seed=N              let all that is random follow from N\n"
	"      --usage               print the options in short and exit\n"
	"\n";

static const char tuning[] =
	"Spindle's own options, by default chosen from a cost model:\n"
	"      --run-formation=HOW   load, replacement, auto\n"
	"      --run-size=SIZE       memory for one run\n"
	"      --merge-policy=HOW    lazy, eager, polyphase, auto\n"
	"      --fan-in=N            merge N runs at once\n"
	"      --merge-buffer=SIZE   memory for the read buffers of one merge\n"
	"      --readahead=HOW       none, double, equal, forecast, extended, cluster or\n"
	"                            auto\n"
	"      --page-size=SIZE      unit of temporary data (32K)\n"
	"      --recycle=WHICH       use space of merged runs again: none, all, or of\n"
	"                            merge levels 0 to WHICH\n"
	"      --spill-compression=HOW  lz4, zstd, none\n"
	"      --volume=WHERE        where temporary data goes: dir:PATH, as -T PATH;\n"
	"                            block:DEVICE; or sim:MODEL[,KEY=VALUE]..., a\n"
	"                            simulated machine in virtual time\n"
	"      --overwrite           all that is on block:DEVICE may be lost\n"
	"      --geometry=FILE       what diskprobe found out about the device\n"
	"      --placement=HOW       of runs on it: contiguous, track, semiseq\n"
	"      --engine=NAME         io_uring, libaio, sync, null, auto\n"
	"      --direct[=WHEN]       pass the page cache by: auto, always or never\n"
	"\n";

static const char notes[] =
	"KEYDEF is F[.C][OPTS][,F[.C][OPTS]]: from character C of field F to the end of\n"
	"the second such position or, without it, of the record; both count from 1.\n"
	"OPTS are letters of bdfgiMhnRrV and replace the global ones for this key.\n"
	"\n"
	"SIZE takes the suffixes b (bytes), K, M, G, T, P, E (powers of 1024) and % (of\n"
	"the machine's memory); without one, -S counts KiB and all others bytes.\n"
	"\n"
	"LC_ALL and LC_COLLATE decide the order of text; LC_ALL=C gives that of bytes.\n"
	"\n"
	"Exit status: 0 if all went well, 1 if -c or -C found disorder, 2 after an error.\n";

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
	       "        [--count] [--explain] [--stats[=FILE]] [--trace=FILE]\n"
	       "        [--progress[=WHEN]] [--seed=N] [--run-formation=HOW]\n"
	       "        [--run-size=SIZE] [--merge-policy=HOW] [--fan-in=N]\n"
	       "        [--merge-buffer=SIZE] [--readahead=HOW] [--page-size=SIZE]\n"
	       "        [--recycle=WHICH] [--spill-compression=HOW] [--volume=WHERE]\n"
	       "        [--overwrite] [--geometry=FILE] [--placement=HOW]\n"
	       "        [--engine=NAME] [--direct[=WHEN]] [--help] [--version] [--usage]\n"
	       "        [FILE]...\n",
	       msg_program());
}
