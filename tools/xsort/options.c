/* SPDX-License-Identifier: MIT */
/*
 * Reads the command line in order, since operands can be +POS1 keys.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "xsort.h"

static const char about[] =
	"Write the records of all FILEs to standard output, sorted.  With no FILE, or\n"
	"when FILE is -, read standard input.";

static const char notes[] =
	"KEYDEF is F[.C][OPTS][,F[.C][OPTS]]: from character C of field F to the end of\n"
	"the second such position or, without it, of the record; both count from 1.\n"
	"OPTS are letters from bdfgiMhnRrV and replace the global ones for this key;\n"
	"E puts empty keys last, e first.\n"
	"With --header it may be NAME[:OPTS], the column of this name.\n"
	"\n"
	"SIZE takes the suffixes b (bytes), K, M, G, T, P, E (powers of 1024) and % (of\n"
	"the machine's memory); without one, -S is in KiB and other sizes in bytes.\n"
	"\n"
	"LC_ALL and LC_COLLATE decide the order of text; LC_ALL=C orders by bytes.\n"
	"\n"
	"Exit status: 0 on success, 1 if -c or -C found disorder, 2 after an error.\n"
	"\n"
	"Examples, more of them in spindle-recipes(7):\n"
	"  xsort -nr --limit=10 numbers\n"
	"  xsort -t'|' -k2,2n orders.tbl\n"
	"  xsort --csv --header -k price:nr -k name goods.csv\n"
	"  xsort -u --count words | xsort -k1,1nr -k2 --limit=10\n"
	"  xsort --decompress --compress-output -o all.zst log.1.gz\n";

/* in the order in which getopt of GNU sort lists the candidates of an ambiguous name */
static const char *const gnu_names[] = { "ignore-leading-blanks",
					 "check",
					 "compress-program",
					 "debug",
					 "dictionary-order",
					 "ignore-case",
					 "files0-from",
					 "general-numeric-sort",
					 "ignore-nonprinting",
					 "key",
					 "merge",
					 "month-sort",
					 "numeric-sort",
					 "human-numeric-sort",
					 "version-sort",
					 "random-sort",
					 "random-source",
					 "sort",
					 "output",
					 "reverse",
					 "stable",
					 "batch-size",
					 "buffer-size",
					 "field-separator",
					 "temporary-directory",
					 "unique",
					 "zero-terminated",
					 "parallel",
					 "help",
					 "version",
					 NULL };

/* True if the POSIX edition in effect has +POS1: it was valid outside 2001-2008. */
static bool obsolescent_keys_valid(void)
{
	const char *text = getenv("_POSIX2_VERSION");
	long version = 200809, v;
	char *end;

	if (text && *text) {
		v = strtol(text, &end, 10);
		if (!*end)
			version = v;
	}
	return version < 200112 || version >= 200809;
}

struct parser {
	struct settings *set;
	struct args_reader reader;
	bool posix;	  /* POSIXLY_CORRECT: options end at the first operand */
	bool obsolescent; /* +POS1 is a key even without -POS2 */
	bool ended;	  /* "--", or under POSIXLY_CORRECT an operand, was seen */
};

static void add_file(struct settings *set, const char *name)
{
	set->files[set->nfiles++] = name;
}

/* Adds an operand: +POS1, with -POS2 in the next argument, or a file. */
static void operand(struct parser *p, const char *word)
{
	const char *next = optind < p->reader.argc ? p->reader.argv[optind] : NULL;

	if (word[0] == '+') {
		if (!(next && next[0] == '-' && isdigit((unsigned char)next[1])))
			next = NULL;
		p->obsolescent |= next && !p->posix;
		if (p->obsolescent && order_add_obsolescent(p->set, word, next)) {
			optind += next != NULL;
			return;
		}
	}
	add_file(p->set, word);
}

/* Ignores -y of Solaris, and a numeric argument after it. */
static void ignore_y(const struct parser *p)
{
	if (optarg == p->reader.argv[optind - 1] && optarg[strspn(optarg, "0123456789")])
		optind--;
}

/* True if "-o FILE" after the files is an option, as it is if +POS1 is a key. */
static bool late_output(const struct parser *p)
{
	const char *word;

	if (!p->obsolescent || p->set->check || optind == p->reader.argc)
		return false;
	word = p->reader.argv[optind];
	return word[0] == '-' && word[1] == 'o' && (word[2] || optind + 1 != p->reader.argc);
}

/* Reads one argument, or one letter of it. */
static void step(struct parser *p)
{
	int c = p->ended ? -1 : args_next(&p->reader);

	if (c == ARGS_OPERAND)
		operand(p, optarg);
	else if (c == 'y')
		ignore_y(p);
	else if (c > 0)
		sp_key_letter(&p->set->order.global, (char)c, SP_KEY_BOTH);
	if (c != -1)
		return;
	p->ended = true;
	if (optind < p->reader.argc)
		add_file(p->set, p->reader.argv[optind++]);
}

void options_parse(struct settings *set, int argc, char **argv)
{
	static const struct args args = { .settings = xsort_settings,
					  .operands = "[FILE]...\n--files0-from=F",
					  .about = about,
					  .notes = notes,
					  .gnu = gnu_names,
					  .in_order = true };
	struct parser p = {
		.set = set,
		.posix = getenv("POSIXLY_CORRECT") != NULL,
		.obsolescent = obsolescent_keys_valid(),
	};

	set->files = must_alloc(NULL, (unsigned long)argc + 1, sizeof(*set->files));
	args_begin(&p.reader, &args, argc, argv, set);
	while (optind < argc) {
		if (p.posix && set->nfiles && !p.ended && !late_output(&p))
			add_file(set, argv[optind++]);
		else
			step(&p);
	}
	args_end(&p.reader);
	common_options_finish(&set->common);
	runplot_begin(&set->common);
	common_options_packed(&set->common, set->output, "-o");
}
