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

static const char notes[] =
	"Fields count from 1.  Without -t they are parted by blanks, and one space stands\n"
	"between them in the result; -t '' makes the whole line one field, -t '\\0' parts\n"
	"them by NULs.\n"
	"\n"
	"FORMAT is a list of FILENUM.FIELD, or 0 for the key, parted by commas or blanks; or\n"
	"auto: as many fields as the first line of each file has.  By default: the key, the\n"
	"other fields of file 1, those of file 2.\n"
	"\n"
	"Both files must be sorted on the key, as sort -b does with the same locale.\n"
	"\n"
	"Exit status: 0 if all went well, 1 after an error or if disorder was found.\n";

void help_print(void)
{
	printf("Usage: %s [OPTION]... FILE1 FILE2\n"
	       "For each pair of lines with equal keys, one of either file, write a line to\n"
	       "standard output.  One FILE can be -, standard input.\n\n",
	       msg_program());
	fputs(options, stdout);
	fputs(notes, stdout);
}
