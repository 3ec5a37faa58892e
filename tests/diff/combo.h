/* SPDX-License-Identifier: MIT */
/*
 * Choosing one combination of options, locale and input.  Everything follows
 * from the seed and the number of the combination.
 */
#ifndef DIFF_COMBO_H
#define DIFF_COMBO_H

#include "input.h"
#include "peer.h"

#define FILES_MAX 4

/* One combination. */
struct combo {
	struct sp__rng rng;
	struct args order; /* what decides the order: also used to presort */
	struct args both;  /* the rest that both programs take */
	struct args xsort; /* what only xsort takes */
	struct args files;
	const char *locale;
	struct input_shape shape;
	unsigned nfiles;
	bool use_stdin, merge, check, batch, program;
	const char *output;
};

static unsigned below(struct combo *c, unsigned n)
{
	return (unsigned)sp__rng_below(&c->rng, n);
}

static bool one_in(struct combo *c, unsigned n)
{
	return below(c, n) == 0;
}

static const char *pick(struct combo *c, const char *const *list)
{
	unsigned n = 0;

	while (list[n])
		n++;
	return list[below(c, n)];
}

/* Choosing the combination. */

/* Letters that GNU sort accepts together, and now and then some that it does not. */
static void letters(struct combo *c, char *to)
{
	static const char *const sets[] = { "",	  "",	 "",	"b",  "d",  "f",  "fd", "bf",
					    "i",  "n",	 "n",	"g",  "h",  "M",  "V",	"r",
					    "nr", "bn",	 "br",	"gr", "hr", "Mr", "Vr", "fr",
					    "R",  "dfr", "bfi", "fV", NULL };

	strcpy(to, pick(c, sets));
	if (one_in(c, 40))
		snprintf(to, 8, "%c%c", "bdfghiMnRrV"[below(c, 11)], "bdfghiMnRrV"[below(c, 11)]);
}

static void choose_key(struct combo *c)
{
	char from[48], end[48] = "", l[16];

	letters(c, l);
	snprintf(from, sizeof(from), "%u", 1 + below(c, one_in(c, 10) ? 12 : 3));
	if (one_in(c, 3))
		sprintf(from + strlen(from), ".%u", one_in(c, 40) ? 0 : 1 + below(c, 6));
	if (one_in(c, 2))
		strcat(from, l);
	if (!one_in(c, 3)) {
		snprintf(end, sizeof(end), ",%u", 1 + below(c, one_in(c, 10) ? 12 : 4));
		if (one_in(c, 3))
			sprintf(end + strlen(end), ".%u", below(c, 6));
		if (one_in(c, 3)) {
			letters(c, l);
			strcat(end, l);
		}
	}
	add(&c->order, "-k%s%s", from, end);
}

static void choose_order(struct combo *c)
{
	char l[16];

	letters(c, l);
	if (*l)
		add(&c->order, "-%s", l);
	for (unsigned n = one_in(c, 2) ? 0 : 1 + below(c, 3); n; n--)
		choose_key(c);
	if (c->shape.separator != ' ' && !one_in(c, 6)) {
		if (c->shape.separator)
			add(&c->order, "-t%c", c->shape.separator);
		else
			add(&c->order, "-t\\0");
	}
	if (one_in(c, 5))
		add(&c->order, "-s");
	if (one_in(c, 5))
		add(&c->order, "-u");
	if (c->shape.eol == '\0')
		add(&c->order, "-z");
	add(&c->order, "--random-source=salt");
}

static void choose_mode(struct combo *c)
{
	static const char *const sizes[] = { "1", "1k", "100K", "1M", "2M", "10%", "b", NULL };
	static const char *const names[] = { "out", "in0", "in1", NULL };

	if (one_in(c, 8)) {
		c->check = true;
		add(&c->both, one_in(c, 2) ? "-c" : "-C");
	} else if (one_in(c, 5)) {
		c->merge = true;
		add(&c->both, "-m");
	}
	if (one_in(c, 3))
		add(&c->both, "-S%s", pick(c, sizes));
	if (one_in(c, 4))
		add(&c->both, "--parallel=%u", 1 + below(c, 4));
	c->batch = one_in(c, 6);
	if (c->batch)
		add(&c->both, "--batch-size=%u", 2 + below(c, 5));
	if (one_in(c, 6))
		add(&c->both, "-Ttmp");
	if (one_in(c, 12))
		add(&c->both, "-Ttmp2");
	c->program = one_in(c, 40);
	if (c->program)
		add(&c->both, "--compress-program=gzip");
	if (!c->check && one_in(c, 6)) {
		c->output = pick(c, names);
		add(&c->both, "-o%s", c->output);
	}
	/* Underlining is quadratic in GNU sort, and its warnings need few lines. */
	if (c->shape.bytes < 2000 && !c->output && one_in(c, 30))
		add(&c->both, "--debug");
}

/* Options that --compress-program makes void are refused with it. */
static void choose_runs(struct combo *c)
{
	static const char *const reads[] = { "none",	 "double",  "equal", "forecast",
					     "extended", "cluster", "auto",  NULL };
	static const char *const forms[] = { "load", "replacement", "auto", NULL };
	static const char *const cycles[] = { "none", "all", "0", "1", "2", "auto", NULL };
	static const char *const packs[] = { "lz4", "zstd", "none", NULL };

	if (one_in(c, 2))
		add(&c->xsort, "--readahead=%s", pick(c, reads));
	if (!c->merge && one_in(c, 3))
		add(&c->xsort, "--run-formation=%s", pick(c, forms));
	if (one_in(c, 3))
		add(&c->xsort, "--recycle=%s", pick(c, cycles));
	if (one_in(c, 4))
		add(&c->xsort, "--spill-compression=%s", pick(c, packs));
	if (one_in(c, 16))
		add(&c->xsort, "--direct=%s", one_in(c, 2) ? "always" : "never");
}

/* The result must not depend on any of these. */
static void choose_tuning(struct combo *c)
{
	static const char *const policies[] = { "lazy", "eager", "polyphase", "mms",
						"ppms", "auto",	 NULL };
	static const char *const engines[] = { "auto", "io_uring", "libaio", "sync", NULL };

	if (one_in(c, 4))
		add(&c->xsort, "--engine=%s", pick(c, engines));
	if (c->check)
		return;
	if (!c->program)
		choose_runs(c);
	if (one_in(c, 2))
		add(&c->xsort, "--merge-policy=%s", pick(c, policies));
	if (one_in(c, 2))
		add(&c->xsort, "--page-size=%u", 4096u << below(c, 4));
	if (!c->batch && one_in(c, 2))
		add(&c->xsort, "--fan-in=%u", 2 + below(c, 6));
	if (!c->merge && one_in(c, 2))
		add(&c->xsort, "--run-size=%uK", 16u << below(c, 4));
}

static void choose_input(struct combo *c)
{
	static const char separators[] = "    ,:\t|\0a";
	struct input_shape *s = &c->shape;

	s->kind = (enum word_kind)below(c, WORD_KINDS);
	s->words = 1 + below(c, 5);
	s->separator = separators[below(c, sizeof(separators) - 1)];
	s->eol = one_in(c, 12) ? '\0' : '\n';
	if (s->separator == s->eol)
		s->separator = ':';
	s->distinct = one_in(c, 4) ? 1 + below(c, 20) : 0;
	s->long_bytes = one_in(c, 12) ? 1000 + below(c, 60000) : 0;
	s->no_final_eol = one_in(c, 5);
	s->bytes = one_in(c, 30) ? 0 : 1 + below(c, one_in(c, 8) ? 400000 : 3000);
	c->nfiles = 1 + (one_in(c, 3) ? below(c, FILES_MAX) : 0);
}

static void choose_files(struct combo *c)
{
	unsigned at = c->nfiles == 1 || one_in(c, 4) ? below(c, c->nfiles) : FILES_MAX;

	c->use_stdin = at < FILES_MAX && one_in(c, 3);
	if (c->use_stdin && c->nfiles == 1 && one_in(c, 2))
		return;
	for (unsigned i = 0; i < c->nfiles; i++) {
		if (c->use_stdin && i == at)
			add(&c->files, "-");
		else
			add(&c->files, "in%u", i);
	}
	if (one_in(c, 60))
		add(&c->files, one_in(c, 2) ? "missing" : "tmp");
}

static void choose(struct combo *c, uint64_t seed, uint64_t number)
{
	static const char *const locales[] = { "C",	      "C",	     "C",
					       "C.UTF-8",     "en_US.UTF-8", "en_US.UTF-8",
					       "de_DE.UTF-8", "cs_CZ.UTF-8", "sv_SE.UTF-8",
					       "tr_TR.UTF-8", "hu_HU.UTF-8", "en_US.ISO-8859-1",
					       "th_TH.UTF-8", NULL };

	*c = (struct combo){ .rng = { sp__mix64(seed * 1000003 + number) } };
	c->locale = pick(c, locales);
	choose_input(c);
	choose_order(c);
	choose_mode(c);
	choose_tuning(c);
	choose_files(c);
}

#endif
