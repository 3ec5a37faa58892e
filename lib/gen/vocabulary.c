/* SPDX-License-Identifier: MIT */
/*
 * Lists the words of the TPC-H tables, and composes pseudo-text of them.
 */
#include <stdbool.h>
#include "base/rng.h"
#include "gen/vocabulary.h"

#define W(s)                                                                                       \
	{                                                                                          \
		s, sizeof(s) - 1                                                                   \
	}

const struct sp__word sp__word_color[SP__COLORS] = {
	W("almond"),	W("antique"),	W("aquamarine"), W("azure"),	  W("beige"),
	W("bisque"),	W("black"),	W("blanched"),	 W("blue"),	  W("blush"),
	W("brown"),	W("burlywood"), W("burnished"),	 W("chartreuse"), W("chiffon"),
	W("chocolate"), W("coral"),	W("cornflower"), W("cornsilk"),	  W("cream"),
	W("cyan"),	W("dark"),	W("deep"),	 W("dim"),	  W("dodger"),
	W("drab"),	W("firebrick"), W("floral"),	 W("forest"),	  W("frosted"),
	W("gainsboro"), W("ghost"),	W("goldenrod"),	 W("green"),	  W("grey"),
	W("honeydew"),	W("hot"),	W("indian"),	 W("ivory"),	  W("khaki"),
	W("lace"),	W("lavender"),	W("lawn"),	 W("lemon"),	  W("light"),
	W("lime"),	W("linen"),	W("magenta"),	 W("maroon"),	  W("medium"),
	W("metallic"),	W("midnight"),	W("mint"),	 W("misty"),	  W("moccasin"),
	W("navajo"),	W("navy"),	W("olive"),	 W("orange"),	  W("orchid"),
	W("pale"),	W("papaya"),	W("peach"),	 W("peru"),	  W("pink"),
	W("plum"),	W("powder"),	W("puff"),	 W("purple"),	  W("red"),
	W("rose"),	W("rosy"),	W("royal"),	 W("saddle"),	  W("salmon"),
	W("sandy"),	W("seashell"),	W("sienna"),	 W("sky"),	  W("slate"),
	W("smoke"),	W("snow"),	W("spring"),	 W("steel"),	  W("tan"),
	W("thistle"),	W("tomato"),	W("turquoise"),	 W("violet"),	  W("wheat"),
	W("white"),	W("yellow"),
};
const struct sp__word sp__word_segment[5] = {
	W("AUTOMOBILE"), W("BUILDING"), W("FURNITURE"), W("MACHINERY"), W("HOUSEHOLD"),
};
const struct sp__word sp__word_priority[5] = {
	W("1-URGENT"), W("2-HIGH"), W("3-MEDIUM"), W("4-NOT SPECIFIED"), W("5-LOW"),
};
const struct sp__word sp__word_instruct[4] = {
	W("DELIVER IN PERSON"),
	W("COLLECT COD"),
	W("NONE"),
	W("TAKE BACK RETURN"),
};
const struct sp__word sp__word_mode[7] = {
	W("REG AIR"), W("AIR"), W("RAIL"), W("SHIP"), W("TRUCK"), W("MAIL"), W("FOB"),
};
const struct sp__word sp__word_type1[6] = {
	W("STANDARD "), W("SMALL "), W("MEDIUM "), W("LARGE "), W("ECONOMY "), W("PROMO "),
};
const struct sp__word sp__word_type2[5] = {
	W("ANODIZED "), W("BURNISHED "), W("PLATED "), W("POLISHED "), W("BRUSHED "),
};
const struct sp__word sp__word_type3[5] = {
	W("TIN"), W("NICKEL"), W("BRASS"), W("STEEL"), W("COPPER"),
};
const struct sp__word sp__word_box1[5] = {
	W("SM "), W("LG "), W("MED "), W("JUMBO "), W("WRAP "),
};
const struct sp__word sp__word_box2[8] = {
	W("CASE"), W("BOX"), W("BAG"), W("JAR"), W("PKG"), W("PACK"), W("CAN"), W("DRUM"),
};

/* The text grammar: terminals by their part of speech. */
enum part { NOUN, VERB, ADJECTIVE, ADVERB, PREPOSITION, AUXILIARY, STOP, PARTS };

static const char *const nouns[] = {
	"foxes",     "ideas",	  "theodolites", "pinto beans", "instructions",	  "dependencies",
	"excuses",   "platelets", "asymptotes",	 "courts",	"dolphins",	  "multipliers",
	"sauternes", "warthogs",  "frets",	 "dinos",	"attainments",	  "somas",
	"Tiresias'", "patterns",  "forges",	 "braids",	"hockey players", "frays",
	"warhorses", "dugouts",	  "notornis",	 "epitaphs",	"pearls",	  "tithes",
	"waters",    "orbits",	  "gifts",	 "sheaves",	"depths",	  "sentiments",
	"decoys",    "realms",	  "pains",	 "grouches",	"escapades",	  "packages",
	"requests",  "accounts",  "deposits",
};
static const char *const verbs[] = {
	"sleep",  "wake",   "are",	 "cajole",   "haggle", "nag",	"use",	   "boost",
	"affix",  "detect", "integrate", "maintain", "nod",    "was",	"lose",	   "sublate",
	"solve",  "thrash", "promise",	 "engage",   "hinder", "print", "x-ray",   "breach",
	"eat",	  "grow",   "impress",	 "mold",     "poach",  "serve", "run",	   "dazzle",
	"snooze", "doze",   "unwind",	 "kindle",   "play",   "hang",	"believe", "doubt",
};
static const char *const adjectives[] = {
	"furious",  "sly",     "careful", "blithe",  "quick",	"fluffy", "slow",     "quiet",
	"ruthless", "thin",    "close",	  "dogged",  "daring",	"brave",  "stealthy", "permanent",
	"enticing", "idle",    "busy",	  "regular", "final",	"ironic", "even",     "bold",
	"silent",   "special", "pending", "express", "unusual",
};
static const char *const adverbs[] = {
	"sometimes", "always",	  "never",   "furiously",  "slyly",	  "carefully",	"blithely",
	"quickly",   "fluffily",  "slowly",  "quietly",	   "ruthlessly",  "thinly",	"closely",
	"doggedly",  "daringly",  "bravely", "stealthily", "permanently", "enticingly", "idly",
	"busily",    "regularly", "finally", "ironically", "evenly",	  "boldly",	"silently",
};
static const char *const prepositions[] = {
	"about",   "above",	   "according to", "across",	 "after",   "against",
	"along",   "alongside of", "among",	   "around",	 "at",	    "atop",
	"before",  "behind",	   "beneath",	   "beside",	 "besides", "between",
	"beyond",  "by",	   "despite",	   "during",	 "except",  "for",
	"from",	   "in place of",  "inside",	   "instead of", "into",    "near",
	"of",	   "on",	   "outside",	   "over",	 "past",    "since",
	"through", "throughout",   "to",	   "toward",	 "under",   "until",
	"up",	   "upon",	   "without",	   "with",	 "within",
};
static const char *const auxiliaries[] = {
	"do",		"may",		"might",	 "shall",	  "will",
	"would",	"can",		"could",	 "should",	  "ought to",
	"must",		"will have to", "shall have to", "could have to", "should have to",
	"must have to", "need to",	"try to",
};
static const char *const stops[] = { ".", ";", ":", "?", "!", "--" };

#define LIST(a)                                                                                    \
	{                                                                                          \
		a, sizeof(a) / sizeof((a)[0])                                                      \
	}
static const struct {
	const char *const *word;
	uint64_t n;
} lists[PARTS] = {
	[NOUN] = LIST(nouns),
	[VERB] = LIST(verbs),
	[ADJECTIVE] = LIST(adjectives),
	[ADVERB] = LIST(adverbs),
	[PREPOSITION] = LIST(prepositions),
	[AUXILIARY] = LIST(auxiliaries),
	[STOP] = LIST(stops),
};

/*
 * Sentences by their phrases, phrases by their parts: N noun phrase, V verb
 * phrase, P prepositional phrase, S stop; n v j d p x s the parts of speech.
 */
static const char *const sentences[] = { "NVS", "NVPS", "NVNS", "NPVNS", "NPVPS" };
static const char *const noun_phrases[] = { "n", "jn", "j,jn", "djn" };
static const char *const verb_phrases[] = { "v", "xv", "vd", "xvd" };

struct pool {
	char *at, *end;
	struct sp__rng rng;
	bool begun;
};

static void say(struct pool *p, const char *word, bool blank)
{
	if (blank && p->begun && p->at < p->end)
		*p->at++ = ' ';
	for (; *word && p->at < p->end; word++)
		*p->at++ = *word;
	p->begun = true;
}

static void say_part(struct pool *p, enum part part)
{
	say(p, lists[part].word[sp__rng_below(&p->rng, lists[part].n)], part != STOP);
}

static void say_phrase(struct pool *p, const char *phrase)
{
	static const char letters[] = "nvjdpx";

	for (; *phrase; phrase++) {
		if (*phrase == ',')
			say(p, ",", false);
		else
			say_part(p, (enum part)(strchr(letters, *phrase) - letters));
	}
}

static void say_sentence(struct pool *p, const char *sentence)
{
	for (; *sentence; sentence++) {
		if (*sentence == 'P') {
			say_part(p, PREPOSITION);
			say(p, "the", true);
		}
		if (*sentence == 'S')
			say_part(p, STOP);
		else if (*sentence == 'V')
			say_phrase(p, verb_phrases[sp__rng_below(&p->rng, 4)]);
		else
			say_phrase(p, noun_phrases[sp__rng_below(&p->rng, 4)]);
	}
}

void sp__text_pool(char *pool, size_t bytes)
{
	struct pool p = { .at = pool, .end = pool + bytes, .rng = { 1 } };

	while (p.at < p.end)
		say_sentence(&p, sentences[sp__rng_below(&p.rng, 5)]);
}
