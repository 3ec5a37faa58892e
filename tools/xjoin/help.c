/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include "msg.h"
#include "xjoin.h"

static const char options[] =
	"  -a FILENUM             write lines of file FILENUM (1 or 2) without partner too\n"
	"  -e STRING              put STRING in place of fields empty or missing\n"
	"  -i, --ignore-case      upper and lower case are the same in keys\n"
	"  -j FIELD               the key is field FIELD of both files; as -1 FIELD -2 FIELD\n"
	"  -o FORMAT              write these fields\n"
	"  -t CHAR                fields are parted by CHAR, in the result too\n"
	"  -v FILENUM             as -a FILENUM, but no pairs are written\n"
	"  -1 FIELD               the key is this field of file 1\n"
	"  -2 FIELD               the key is this field of file 2\n"
	"      --check-order      disorder in a file is an error, even if all lines pair\n"
	"      --nocheck-order    do not look at the order\n"
	"      --header           the first lines of the files are joined, whatever they say\n"
	"  -z, --zero-terminated  lines end with NUL, not newline\n"
	"      --help             print this and exit\n"
	"      --version          print the version and exit\n"
	"\n";

static const char own[] =
	"Spindle's own options, what to do:\n"
	"      --type=WORD            inner (default), left, right, full: as -a 1, -a 2, both;\n"
	"                             semi: lines of file 1 with a partner, each once;\n"
	"                             anti: as -v 1\n"
	"      --csv                  RFC 4180 records; fields are parted by -t or a comma\n"
	"      --record-size=N[,N]    binary records of N bytes, in either file\n"
	"      --bkey=SPEC[,SPEC]     their key, in either file: OFFSET:LENGTH[:TYPE], TYPE is\n"
	"                             bytes, u8, u16le ... i64be, f32le ... f64be;\n"
	"                             more than one: all must be equal\n"
	"      --output=FILE          write to FILE, which appears when it is complete\n"
	"      --algorithm=WORD       hybrid, grace, shj, nested, merge or auto\n"
	"      --build=FILE           read file 1 or 2 first; auto: the smaller one\n"
	"      --ordered=FILE         write the result in the order of file 1 or 2\n"
	"  -S, --buffer-size=SIZE     memory for the whole program; up to 16 MB and three\n"
	"                             times the longest of huge lines come on top\n"
	"  -T, --temporary-directory=DIR  put temporary data in DIR, not in $TMPDIR or /tmp;\n"
	"                             may be repeated\n"
	"      --join-memory=SIZE     memory for lines of the file read first\n"
	"      --page-size=SIZE       unit of temporary data\n"
	"      --engine=NAME          io_uring, libaio, sync, null, auto\n"
	"      --direct[=WHEN]        pass the page cache by: auto, always or never\n"
	"      --volume=WHERE         where temporary data goes: dir:PATH, as -T PATH;\n"
	"                             block:DEVICE; or sim:MODEL[,KEY=VALUE]..., a\n"
	"                             simulated machine in virtual time\n"
	"      --overwrite            all that is on block:DEVICE may be lost\n"
	"      --geometry=FILE        what diskprobe found out about the device\n"
	"      --placement=HOW        of partitions on it: contiguous, track, semiseq\n"
	"      --parallel=N           at most N threads\n"
	"      --seed=N               of the hashes\n"
	"      --explain              print the plan on standard error; do not join\n"
	"      --stats[=FILE]         write a report as JSON; standard error if no FILE\n"
	"      --trace=FILE           write every block request to FILE\n"
	"      --progress[=WHEN]      auto, always or never\n"
	"      --usage                print the options in short and exit\n"
	"\n";

static const char fields[] =
	"Fields count from 1.  Without -t they are parted by blanks, and one space stands\n"
	"between them in the result; -t '' makes the whole line one field, -t '\\0' parts\n"
	"them by NULs.\n"
	"\n"
	"FORMAT is a list of FILENUM.FIELD, or 0 for the key, parted by commas or blanks; or\n"
	"auto: as many fields as the first line of each file has.  By default: the key, the\n"
	"other fields of file 1, those of file 2.  Columns of binary records are\n"
	"FILENUM.OFFSET:LENGTH.\n"
	"\n";

static const char order[] =
	"The files need not be sorted, and without --ordered neither is the result.  Keys are\n"
	"equal when their bytes are; a key can have several fields, -1 2,3 -2 1,4, and their\n"
	"values count where letters follow: n, g, h, M, V as for sort, f to fold case,\n"
	"l for texts that the locale calls equal.  Files that are found sorted are merged.\n"
	"With --algorithm=merge or --check-order, and under\n"
	"the name join, it is as with GNU join: both files must be sorted on the key, as\n"
	"sort -b does with the same locale.\n"
	"\n";

static const char sorted[] = "Both files must be sorted on the key, as sort -b does with the "
			     "same locale.\n\n";

static const char notes[] =
	"Exit status: 0 if all went well, 1 after an error or if disorder was found.\n";

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
	       "For each pair of lines with equal keys, one of either file, write a line to\n"
	       "standard output.  One FILE can be -, standard input.\n\n",
	       msg_program());
	fputs(options, stdout);
	if (!plain_join)
		fputs(own, stdout);
	fputs(fields, stdout);
	fputs(plain_join ? sorted : order, stdout);
	fputs(notes, stdout);
}
