/* SPDX-License-Identifier: MIT */
/*
 * Option parsing.  GNU's names and all their abbreviations resolve first: a
 * name is looked up in Spindle's table only if no GNU name begins with it.
 * getopt_long() reads both tables, so that its messages are GNU's too.
 * Operands are returned in place ("-" before the letters), because they may be
 * +POS1 keys.
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include "choice.h"
#include "longopt.h"
#include "msg.h"
#include "number.h"
#include "quote.h"
#include "stdio_end.h"
#include "version.h"
#include "xsort.h"

static const char short_options[] = "-bcCdfghik:mMno:rRsS:t:T:uVy:z";

enum {
	OPT_CHECK = CHAR_MAX + 1,
	OPT_COMPRESS,
	OPT_DEBUG,
	OPT_FILES0,
	OPT_BATCH,
	OPT_RANDOM_SOURCE,
	OPT_SORT,
	OPT_PARALLEL,
	OPT_HELP,
	OPT_VERSION,
};

/* The order matters: getopt lists the candidates of an ambiguous name in it. */
static const struct option gnu_options[] = {
	{ "ignore-leading-blanks", no_argument, NULL, 'b' },
	{ "check", optional_argument, NULL, OPT_CHECK },
	{ "compress-program", required_argument, NULL, OPT_COMPRESS },
	{ "debug", no_argument, NULL, OPT_DEBUG },
	{ "dictionary-order", no_argument, NULL, 'd' },
	{ "ignore-case", no_argument, NULL, 'f' },
	{ "files0-from", required_argument, NULL, OPT_FILES0 },
	{ "general-numeric-sort", no_argument, NULL, 'g' },
	{ "ignore-nonprinting", no_argument, NULL, 'i' },
	{ "key", required_argument, NULL, 'k' },
	{ "merge", no_argument, NULL, 'm' },
	{ "month-sort", no_argument, NULL, 'M' },
	{ "numeric-sort", no_argument, NULL, 'n' },
	{ "human-numeric-sort", no_argument, NULL, 'h' },
	{ "version-sort", no_argument, NULL, 'V' },
	{ "random-sort", no_argument, NULL, 'R' },
	{ "random-source", required_argument, NULL, OPT_RANDOM_SOURCE },
	{ "sort", required_argument, NULL, OPT_SORT },
	{ "output", required_argument, NULL, 'o' },
	{ "reverse", no_argument, NULL, 'r' },
	{ "stable", no_argument, NULL, 's' },
	{ "batch-size", required_argument, NULL, OPT_BATCH },
	{ "buffer-size", required_argument, NULL, 'S' },
	{ "field-separator", required_argument, NULL, 't' },
	{ "temporary-directory", required_argument, NULL, 'T' },
	{ "unique", no_argument, NULL, 'u' },
	{ "zero-terminated", no_argument, NULL, 'z' },
	{ "parallel", required_argument, NULL, OPT_PARALLEL },
	{ "help", no_argument, NULL, OPT_HELP },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ NULL, 0, NULL, 0 },
};

static const struct sp_word check_words[] = {
	{ "quiet", 'C' }, { "silent", 'C' }, { "diagnose-first", 'c' }, { NULL, 0 }
};

static const struct sp_word sort_words[] = {
	{ "general-numeric", 'g' }, { "human-numeric", 'h' }, { "month", 'M' }, { "numeric", 'n' },
	{ "random", 'R' },	    { "version", 'V' },	      { NULL, 0 }
};

/* The POSIX edition whose syntax applies; +POS1 was valid outside 2001-2008. */
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
	int argc;
	char **argv;
	bool posix;	  /* POSIXLY_CORRECT: options end at the first operand */
	bool obsolescent; /* +POS1 is a key even without -POS2 */
	bool ended;	  /* "--", or under POSIXLY_CORRECT an operand, was seen */
};

static void set_once(const char **where, const char *value, const char *things)
{
	if (*where && strcmp(*where, value))
		die("multiple %s specified", things);
	*where = value;
}

static void set_check(struct settings *set, char how)
{
	if (set->check && set->check != how)
		incompatible("cC");
	set->check = how;
}

static void set_separator(struct settings *set, const char *text)
{
	int c = (unsigned char)text[0];

	if (!c)
		die("empty tab");
	if (text[1]) {
		if (strcmp(text, "\\0"))
			die("multi-character tab %s", quote(text));
		c = '\0';
	}
	if (set->separator != -1 && set->separator != c)
		die("incompatible tabs");
	set->separator = c;
}

static void set_batch_size(struct settings *set, const char *text)
{
	uintmax_t n = 0;
	enum number_status status = number_parse(text, &n);
	struct rlimit files;
	unsigned max = getrlimit(RLIMIT_NOFILE, &files) == 0 ? (unsigned)files.rlim_cur : 20;

	max -= 3; /* the standard streams */
	if (status == NUMBER_OK && n < 2) {
		msg("invalid --batch-size argument %s", quote(text));
		die("minimum --batch-size argument is %s", quote("2"));
	}
	if (status == NUMBER_OVERFLOW || (status == NUMBER_OK && n > max)) {
		msg("--batch-size argument %s too large", quote(text));
		die("maximum --batch-size argument with current rlimit is %u", max);
	}
	if (status != NUMBER_OK)
		number_die(status, "--batch-size", text, NULL);
	set->opts.batch_size = (unsigned)n;
}

static void set_parallel(struct settings *set, const char *text)
{
	uintmax_t n = 0;
	enum number_status status = number_parse(text, &n);

	if (status == NUMBER_OVERFLOW)
		n = UINT_MAX;
	else if (status != NUMBER_OK)
		number_die(status, "--parallel", text, NULL);
	if (!n)
		die("number in parallel must be nonzero");
	set->opts.run.parallel = n < UINT_MAX ? (unsigned)n : UINT_MAX;
}

/* The largest of several sizes counts, so their order does not matter. */
static void set_memory(struct settings *set, bool is_long, const char *text)
{
	uint64_t bytes = 0;
	enum number_status status = size_parse(text, 1024, &bytes);

	if (status != NUMBER_OK)
		number_die(status, is_long ? "--buffer-size" : "-S", text, NULL);
	if (bytes == 0)
		bytes = 1; /* 0 would leave the choice to the planner */
	if (bytes > set->opts.run.memory_bytes)
		set->opts.run.memory_bytes = bytes;
}

/* For what is no such word GNU sort has a status of its own. */
static int gnu_word(const char *option, const struct sp_word *words)
{
	int value;

	msg_set_failure_status(EXIT_FAILURE);
	value = choice_option(option, optarg, words);
	msg_set_failure_status(XSORT_FAILURE);
	return value;
}

static void add_file(struct settings *set, const char *name)
{
	set->files[set->nfiles++] = name;
}

/* An operand: +POS1, with -POS2 in the next argument, or a file. */
static void operand(struct parser *p, const char *word)
{
	const char *next = optind < p->argc ? p->argv[optind] : NULL;

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

/* -y is Solaris's: ignored, together with a numeric next argument. */
static void ignore_y(const struct parser *p)
{
	if (optarg == p->argv[optind - 1] && optarg[strspn(optarg, "0123456789")])
		optind--;
}

static _Noreturn void say_and_leave(void (*print)(void))
{
	print();
	stdio_finish();
	exit(0);
}

/* Options that are just a flag or a stored argument; false: the code is none of them. */
static bool apply_simple(struct settings *set, int c)
{
	switch (c) {
	case OPT_COMPRESS:
		set_once(&set->opts.compress_program, optarg, "compress programs");
		return true;
	case OPT_RANDOM_SOURCE:
		set_once(&set->random_source, optarg, "random sources");
		return true;
	case 'o':
		set_once(&set->output, optarg, "output files");
		return true;
	case OPT_FILES0:
		set->files_from = optarg;
		return true;
	case OPT_DEBUG:
		return set->debug = true;
	case 'm':
		return set->merge = true;
	case 's':
		return set->stable = true;
	case 'u':
		return set->unique = true;
	case 'z':
		set->eol = '\0';
		return true;
	}
	return false;
}

static void apply(struct parser *p, int c, bool is_long)
{
	struct settings *set = p->set;

	switch (c) {
	case 1:
		operand(p, optarg);
		break;
	case OPT_SORT:
		c = gnu_word("--sort", sort_words);
		/* fallthrough */
	case 'b':
	case 'd':
	case 'f':
	case 'g':
	case 'h':
	case 'i':
	case 'M':
	case 'n':
	case 'r':
	case 'R':
	case 'V':
		sp_key_letter(&set->global, (char)c, SP_KEY_BOTH);
		break;
	case OPT_CHECK:
		c = optarg ? gnu_word("--check", check_words) : 'c';
		/* fallthrough */
	case 'c':
	case 'C':
		set_check(set, (char)c);
		break;
	case 'k':
		order_add_key(set, optarg);
		break;
	case OPT_BATCH:
		set_batch_size(set, optarg);
		break;
	case OPT_PARALLEL:
		set_parallel(set, optarg);
		break;
	case 'S':
		set_memory(set, is_long, optarg);
		break;
	case 't':
		set_separator(set, optarg);
		break;
	case 'T':
		tmpdir_add(&set->common, "-T", optarg);
		break;
	case 'y':
		ignore_y(p);
		break;
	case OPT_HELP:
		say_and_leave(help_print);
	case OPT_VERSION:
		say_and_leave(version_print);
	default:
		if (!apply_simple(set, c))
			usage_error();
	}
}

/* "-o FILE" after the files remains an option if +POS1 is a key. */
static bool late_output(const struct parser *p)
{
	const char *word;

	if (!p->obsolescent || p->set->check || optind == p->argc)
		return false;
	word = p->argv[optind];
	return word[0] == '-' && word[1] == 'o' && (word[2] || optind + 1 != p->argc);
}

/* One argument, or one letter of it. */
static void step(struct parser *p)
{
	const struct longopt l = { short_options, gnu_options, tuning_settings };
	int index = -1, c;

	if (!p->ended) {
		if (longopt_own(&l, p->argc, p->argv, p->set)) {
			if (p->set->common.usage)
				say_and_leave(usage_print);
			return;
		}
		c = getopt_long(p->argc, p->argv, short_options, gnu_options, &index);
		if (c != -1) {
			apply(p, c, index >= 0);
			return;
		}
		p->ended = true;
	}
	if (optind < p->argc)
		add_file(p->set, p->argv[optind++]);
}

void options_parse(struct settings *set, int argc, char **argv)
{
	struct parser p = {
		.set = set,
		.argc = argc,
		.argv = argv,
		.posix = getenv("POSIXLY_CORRECT") != NULL,
		.obsolescent = obsolescent_keys_valid(),
	};

	set->files = must_alloc(NULL, (unsigned long)argc + 1, sizeof(*set->files));
	while (optind < argc) {
		if (p.posix && set->nfiles && !p.ended && !late_output(&p))
			add_file(set, argv[optind++]);
		else
			step(&p);
	}
	common_options_finish(&set->common);
}
