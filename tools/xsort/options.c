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

static const struct sp_word check_words[] = {
	{ "quiet", 'C' }, { "silent", 'C' }, { "diagnose-first", 'c' }, { NULL, 0 }
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
	struct option *gnu;
	bool posix;	  /* POSIXLY_CORRECT: options end at the first operand */
	bool obsolescent; /* +POS1 is a key even without -POS2 */
	bool ended;	  /* "--", or under POSIXLY_CORRECT an operand, was seen */
};

/* For what is no such word GNU sort has a status of its own. */
static int gnu_word(const char *option, const char *text, const struct sp_word *words)
{
	int value;

	msg_set_failure_status(EXIT_FAILURE);
	value = choice_option(option, text, words);
	msg_set_failure_status(XSORT_FAILURE);
	return value;
}

static void set_check(struct settings *set, char how)
{
	if (set->check && set->check != how)
		incompatible("cC");
	set->check = how;
}

static void set_check_word(void *settings, const char *option, const char *text)
{
	set_check(settings, text ? (char)gnu_word(option, text, check_words) : 'c');
}

static void set_sort(void *settings, const char *option, const char *text)
{
	struct settings *set = settings;

	sp_key_letter(&set->order.global, (char)gnu_word(option, text, sp_order_sort_words()),
		      SP_KEY_BOTH);
}

static uint64_t batch_size(const char *option, const char *text)
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
		number_die(status, option, text, NULL);
	return n;
}

static uint64_t threads(const char *option, const char *text)
{
	uintmax_t n = 0;
	enum number_status status = number_parse(text, &n);

	if (status == NUMBER_OVERFLOW)
		n = UINT_MAX;
	else if (status != NUMBER_OK)
		number_die(status, option, text, NULL);
	if (!n)
		die("number in parallel must be nonzero");
	return n < UINT_MAX ? n : UINT_MAX;
}

/* The largest of several sizes counts, so their order does not matter. */
static void set_memory(void *to, const char *option, const char *text)
{
	uint64_t bytes = 0, *memory = to;
	enum number_status status = size_parse(text, 1024, &bytes);

	if (status != NUMBER_OK)
		number_die(status, option, text, NULL);
	if (bytes == 0)
		bytes = 1; /* 0 would leave the choice to the planner */
	if (bytes > *memory)
		*memory = bytes;
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

#define TO(member) SETTING_TO(struct settings, member)

/*
 * The order matters: getopt lists the candidates of an ambiguous name in it.  What has a letter
 * alone is one of ORDER_LETTERS.
 */
static const struct setting gnu_settings[] = {
	{ "ignore-leading-blanks", .letter = 'b' },
	{ "check", "WORD", .call = set_check_word, .optional = true },
	{ "compress-program", "PROG", TO(opts.compress_program), .once = "compress programs" },
	{ "debug", TO(debug) },
	{ "dictionary-order", .letter = 'd' },
	{ "ignore-case", .letter = 'f' },
	{ "files0-from", "F", TO(files_from) },
	{ "general-numeric-sort", .letter = 'g' },
	{ "ignore-nonprinting", .letter = 'i' },
	{ "key", "KEYDEF", .call = order_add_key, .letter = 'k' },
	{ "merge", TO(merge), .letter = 'm' },
	{ "month-sort", .letter = 'M' },
	{ "numeric-sort", .letter = 'n' },
	{ "human-numeric-sort", .letter = 'h' },
	{ "version-sort", .letter = 'V' },
	{ "random-sort", .letter = 'R' },
	{ "random-source", "FILE", TO(random_source), .once = "random sources" },
	{ "sort", "WORD", .call = set_sort },
	{ "output", "FILE", TO(output), .once = "output files", .letter = 'o' },
	{ "reverse", .letter = 'r' },
	{ "stable", TO(order.stable), .letter = 's' },
	{ "batch-size", "N", TO(opts.batch_size), .whole = batch_size },
	{ "buffer-size", "SIZE", TO(opts.run.memory_bytes), .call = set_memory, .letter = 'S' },
	{ "field-separator", "SEP", TO(order), .call = order_set_separator, .letter = 't' },
	{ "temporary-directory", "DIR", TO(common), .call = tmpdir_add, .letter = 'T' },
	{ "unique", TO(order.unique), .letter = 'u' },
	{ "zero-terminated", TO(order.eol), .clear = true, .letter = 'z' },
	{ "parallel", "N", TO(opts.run.parallel), .whole = threads },
	{ "help", TO(help) },
	{ "version", TO(version) },
	{ 0 },
};

/* An option of GNU sort's; index: of its row, if its long name was given. */
static void apply(struct parser *p, int c, int index)
{
	const struct setting *s = setting_find(gnu_settings, c);
	char name[64] = { '-', (char)c, '\0' };

	if (index >= 0)
		snprintf(name, sizeof(name), "--%s", gnu_settings[index].name);
	if (c == 1)
		operand(p, optarg);
	else if (c == 'c' || c == 'C')
		set_check(p->set, (char)c);
	else if (c == 'y')
		ignore_y(p);
	else if (c < CHAR_MAX && strchr(ORDER_LETTERS, c))
		sp_key_letter(&p->set->order.global, (char)c, SP_KEY_BOTH);
	else if (s)
		setting_apply(s, name, optarg, p->set);
	else
		usage_error();
}

static void leave_if_asked(const struct settings *set)
{
	if (set->help)
		help_print();
	if (set->common.usage)
		usage_print();
	if (set->version)
		version_leave();
	if (set->help || set->common.usage)
		stdio_leave();
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
	const struct longopt l = { short_options, p->gnu, tuning_settings };
	int index = -1, c;

	if (!p->ended) {
		if (longopt_own(&l, p->argc, p->argv, p->set))
			return;
		c = getopt_long(p->argc, p->argv, short_options, p->gnu, &index);
		if (c != -1) {
			apply(p, c, index);
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
		.gnu = longopt_table(gnu_settings),
		.posix = getenv("POSIXLY_CORRECT") != NULL,
		.obsolescent = obsolescent_keys_valid(),
	};

	set->files = must_alloc(NULL, (unsigned long)argc + 1, sizeof(*set->files));
	while (optind < argc) {
		if (p.posix && set->nfiles && !p.ended && !late_output(&p))
			add_file(set, argv[optind++]);
		else
			step(&p);
		leave_if_asked(set);
	}
	free(p.gnu);
	common_options_finish(&set->common);
	common_options_packed(&set->common, set->output, "-o");
}
