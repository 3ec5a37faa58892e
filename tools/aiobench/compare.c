/* SPDX-License-Identifier: MIT */
/*
 * Runs aiobench compare: two reports, or two settings measured alternately.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "aiobench.h"

#define WORDS_MAX 256

/* Splits text at blanks outside quotes, in place.  Returns the number of arguments. */
static int split(char *text, char **words, int max)
{
	int n = 0;

	while (*text) {
		char closing = 0, *to;

		while (isspace((unsigned char)*text))
			text++;
		if (!*text)
			break;
		if (n == max)
			die("more than %d words of options", max);
		words[n++] = to = text;
		for (; *text && (closing || !isspace((unsigned char)*text)); text++) {
			if (*text == closing)
				closing = 0;
			else if (!closing && (*text == '\'' || *text == '"'))
				closing = *text;
			else
				*to++ = *text;
		}
		if (closing)
			die("a quote is not closed in the options %s", quote(words[n - 1]));
		if (*text)
			text++;
		*to = 0;
	}
	return n;
}

/* Parses the command line followed by these options. */
static void read_setting(struct config *setting, const struct config *o, const char *more)
{
	size_t words = (size_t)o->argc + WORDS_MAX + 1;
	char **argv = must_alloc(NULL, words * sizeof(*argv) + strlen(more) + 1, 1);
	char *text = (char *)&argv[words]; /* in one block with the pointers to it */
	int argc = o->argc;

	strcpy(text, more);
	memcpy(argv, o->argv, (size_t)argc * sizeof(*argv));
	argc += split(text, &argv[argc], WORDS_MAX);
	argv[argc] = NULL;
	/* never freed: targets and class names point into argv */
	load_options_read(setting, argc, argv);
	check_outputs(setting);
	set_options_load(setting);
}

static int take_turns(struct config *o)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	static struct config a, b;
	struct sp_benchset_opts opts = { .bench = &a.bench,
					 .rounds = o->set.pairs,
					 .progress = show_progress };
	struct sp_report *report;
	struct sp_benchset *set;
	int rc;

	read_setting(&a, o, o->set.a ? o->set.a : "");
	read_setting(&b, o, o->set.b ? o->set.b : "");
	signals_interrupt();
	rc = sp_benchset_compare(&set, &opts, &b.bench, &err);
	progress_wipe();
	if (!set)
		die_of(rc, &err);
	report = sp_report_comparison(&a.bench, &b.bench, sp_benchset_result(set));
	return set_finish(o, set, report, NULL, NULL, rc, &err);
}

int command_compare(struct config *o)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_report *report;
	int rc;

	if (o->set.a || o->set.b)
		return take_turns(o);
	if (o->set.pairs)
		die("--interleave needs --a or --b");
	if (o->bench.ntargets != 2)
		die("compare needs two reports, or --a or --b");
	rc = sp_report_compare_files(&report, o->targets[0], o->targets[1], &err);
	if (rc)
		die_of(rc, &err);
	write_report(o, report, NULL, NULL);
	return 0;
}
