/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include "msg.h"
#include "xjoin.h"

static const char options[] =
	"  -a FILENUM             also write unpaired lines of file FILENUM (1 or 2)\n"
	"  -e STRING              write STRING for empty or missing fields\n"
	"  -i, --ignore-case      ignore case in keys\n"
	"  -j FIELD               the key is field FIELD of both files; as -1 FIELD -2 FIELD\n"
	"  -o FORMAT              write these fields\n"
	"  -t CHAR                separate fields by CHAR, in input and result\n"
	"  -v FILENUM             as -a FILENUM, but do not write pairs\n"
	"  -1 FIELD               the key is this field of file 1\n"
	"  -2 FIELD               the key is this field of file 2\n"
	"      --check-order      disorder in a file is an error, even if all lines pair\n"
	"      --nocheck-order    do not check the order\n"
	"      --header           join the first lines of the files regardless of keys\n"
	"  -z, --zero-terminated  lines end with NUL, not newline\n"
	"      --help             print this and exit\n"
	"      --version          print the version and what was built in\n"
	"\n";

static const char own[] =
	"Spindle's own options, what to do:\n"
	"      --type=WORD            inner (default), left, right, full: as -a 1, -a 2, both;\n"
	"                             semi: lines of file 1 with a partner, each once;\n"
	"                             anti: as -v 1\n"
	"      --csv                  RFC 4180 records; fields are separated by -t or a comma\n"
	"      --record-size=N[,N]    binary records of N bytes, in each file\n"
	"      --bkey=SPEC[,SPEC]     their key, in each file: OFFSET:LENGTH[:TYPE], TYPE is\n"
	"                             bytes, u8, u16le ... i64be, f32le ... f64be;\n"
	"                             if repeated, all must be equal\n"
	"      --output=FILE          write to FILE, which appears when it is complete\n"
	"      --decompress[=FORMAT]  files are compressed by gzip, zstd, lz4, xz; without\n"
	"                             FORMAT, those that show it by their first bytes\n"
	"      --compress-output[=FORMAT]  write gzip, zstd or lz4; or without FORMAT, as\n"
	"                             the suffix of the name of --output says\n"
	"      --algorithm=WORD       hybrid, grace, shj, nested, merge, inl, async-inl\n"
	"                             or auto\n"
	"      --index1=FILE          inl, async-inl: the index of file 1, from xindex\n"
	"      --index2=FILE          the same of file 2\n"
	"      --then=FILE,left=N.F,key=F,index=INDEX  join file 3, 4 and so on by its field F,\n"
	"                             which equals field F of file N\n"
	"      --max-outstanding=N    async-inl: keys and reads at once (128)\n"
	"      --build=FILE           read file 1 or 2 first; auto: the smaller one\n"
	"      --ordered=FILE         write the result in the order of file 1 or 2\n"
	"      --limit=N              stop after N lines of the result\n"
	"  -S, --buffer-size=SIZE     memory for the whole program, plus up to 16 MB and\n"
	"                             three times the longest huge line\n"
	"  -T, --temporary-directory=DIR  put temporary data in DIR, not in $TMPDIR or /tmp;\n"
	"                             may be repeated\n"
	"      --join-memory=SIZE     memory for lines of the file read first\n"
	"      --page-size=SIZE       unit of temporary data\n"
	"      --engine=NAME          io_uring, libaio, sync, null, auto\n"
	"      --direct[=WHEN]        bypass the page cache: auto, always or never\n"
	"      --volume=WHERE         where temporary data goes: dir:PATH, as -T PATH;\n"
	"                             block:DEVICE; or sim:MODEL[,KEY=VALUE]..., a\n"
	"                             simulated machine in virtual time\n"
	"      --overwrite            allow all data on block:DEVICE to be overwritten\n"
	"      --geometry=FILE        geometry of the device, from diskprobe\n"
	"      --placement=HOW        placement of partitions: contiguous, track, semiseq\n"
	"      --parallel=N           use at most N threads\n"
	"      --seed=N               seed the hash function with N\n"
	"      --explain              print the plan on standard error; do not join\n"
	"      --stats[=FILE]         write a report as JSON to FILE; without it, as text\n"
	"                             on standard error\n"
	"      --timeline=FILE        write the time of each line of the result to FILE\n"
	"      --trace=FILE           write every block request to FILE\n"
	"      --progress[=WHEN]      auto, always or never\n"
	"      --usage                print a short usage message and exit\n"
	"\n";

static const char fields[] =
	"Fields count from 1.  Without -t they are separated by blanks, and by one space in\n"
	"the result; -t '' makes the whole line one field, -t '\\0' separates them by NUL.\n"
	"\n"
	"FORMAT is a list of FILENUM.FIELD, or 0 for the key, separated by commas or blanks;\n"
	"or auto: as many fields as the first line of each file has.  By default: the key, the\n"
	"other fields of file 1, those of file 2.  Columns of binary records are\n"
	"FILENUM.OFFSET:LENGTH.\n"
	"\n";

static const char order[] =
	"The files need not be sorted, and without --ordered neither is the result.  Keys are\n"
	"equal if their bytes are.  A key can have several fields, -1 2,3 -2 1,4; a letter\n"
	"after a field compares it by value: n, g, h, M, V as for sort, f folding case, l by\n"
	"the locale.  Files that prove to be sorted are merged.  With --algorithm=merge or\n"
	"--check-order, and under the name join, both files must be sorted on the key as\n"
	"sort -b does with the same locale, as for GNU join.\n"
	"\n";

static const char sorted[] = "Both files must be sorted on the key, as sort -b does with the "
			     "same locale.\n\n";

static const char notes[] =
	"Exit status: 0 on success, 1 after an error or if disorder was found.\n";

void usage_print(void)
{
	printf("Usage: %s [-iz] [-a FILENUM] [-e STRING] [-j FIELD] [-o FORMAT] [-t CHAR]\n"
	       "        [-v FILENUM] [-1 FIELD] [-2 FIELD] [-S SIZE] [-T DIR]... [--check-order]\n"
	       "        [--nocheck-order] [--header] [--type=WORD] [--csv] [--output=FILE]\n"
	       "        [--record-size=N[,N] [--bkey=SPEC[,SPEC]]...]\n"
	       "        [--algorithm=WORD] [--build=FILE] [--ordered=FILE] [--join-memory=SIZE]\n"
	       "        [--page-size=SIZE] [--engine=NAME] [--direct[=WHEN]] [--seed=N]\n"
	       "        [--volume=WHERE] [--overwrite] [--geometry=FILE] [--placement=HOW]\n"
	       "        [--parallel=N] [--explain] [--stats[=FILE]] [--trace=FILE]\n"
	       "        [--progress[=WHEN]]\n"
	       "        [--help] [--version] [--usage] FILE1 FILE2\n",
	       msg_program());
}

void help_print(bool plain_join)
{
	printf("Usage: %s [OPTION]... FILE1 FILE2\n"
	       "For each pair of lines with equal keys, one from each file, write a line to\n"
	       "standard output.  One FILE can be -, standard input.\n\n",
	       msg_program());
	fputs(options, stdout);
	if (!plain_join)
		fputs(own, stdout);
	fputs(fields, stdout);
	fputs(plain_join ? sorted : order, stdout);
	fputs(notes, stdout);
}
