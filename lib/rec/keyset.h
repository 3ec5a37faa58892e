/* SPDX-License-Identifier: MIT */
/*
 * The compiled form of a key set, shared by the files of lib/rec that encode
 * and compare keys.  All of it is constant once sp_keyset_new() has returned.
 */
#ifndef SP__REC_KEYSET_H
#define SP__REC_KEYSET_H

#include <md5.h>
#include "rec/collate.h"
#include "rec/key.h"

/* Classes of single bytes by LC_CTYPE, as GNU sort uses them. */
struct sp__ctab {
	bool blank[256];    /* isblank(), and newline */
	bool nondict[256];  /* dropped by -d */
	bool nonprint[256]; /* dropped by -i */
	unsigned char fold[256];
};

/* LC_NUMERIC: single bytes, -1 where the locale has none that would do. */
struct sp__numfmt {
	int decimal; /* '.' in place of one that will not do, as GNU sort has it */
	int thousands;
	int strtold_point; /* what strtold() takes for the decimal point */
};

/* LC_TIME: names in upper case without blanks, in the order of their bytes. */
struct sp__month {
	char *name;
	unsigned char number; /* 1 to 12 */
};

/* One key of the set. */
struct sp__comp {
	struct sp_key key;
	const unsigned char *fold; /* NULL: bytes stay as they are */
	const bool *drop;	   /* NULL: no byte is ignored */
	bool rewritten;		   /* by fold or drop, before its type looks at it */
	bool collated;		   /* text in strcoll() order */
	bool whole;		   /* the record itself, even if it is CSV */
	bool last;		   /* nothing follows, so it need not be self-delimiting */
	bool self_ending;	   /* a number that the field separator ends */
};

struct sp_keyset {
	struct sp__keyset pub; /* first: sp__ks() */
	int (*encode)(const struct sp_keyset *ks, const char *rec, size_t bytes,
		      struct sp__keybuf *buf);
	int separator; /* -1: runs of blanks */
	struct sp__numfmt numfmt;
	bool hard;    /* LC_COLLATE is not C, by name: what GNU sort goes by */
	bool strcoll; /* ... and its order is not that of bytes either */
	struct sp__ctab ctab;
	struct sp__month month[12];
	struct sp__collate *collate; /* NULL unless a key or the last resort is collated */
	MD5_CTX salted;		     /* after the salt of -R */
	size_t nkeys;
	struct sp__comp comp[]; /* at least one */
};

static inline const char *sp__skip_blanks(const struct sp_keyset *ks, const char *s,
					  const char *lim)
{
	while (s < lim && ks->ctab.blank[(unsigned char)*s])
		s++;
	return s;
}

/* Field extents (field.c). */

/* Where key k begins in a line. */
const char *sp__field_begin(const struct sp_keyset *ks, const struct sp_key *k, const char *rec,
			    size_t bytes);
/* Both ends; never end < begin. */
void sp__field_extent(const struct sp_keyset *ks, const struct sp_key *k, const char *rec,
		      size_t bytes, const char **begin, const char **end);

/*
 * The text of a key, rewritten if it is to be: in the record, or in own, which may be NULL if
 * neither CSV nor rewriting needs it.  0; -ENOMEM, *s and *n are as far as it got.
 */
int sp__key_text(const struct sp_keyset *ks, const struct sp__comp *c, const char *rec,
		 size_t bytes, struct sp__keybuf *own, const char **s, size_t *n);

/* Choosing sp_keyset.encode (encode.c). */
void sp__encode_choose(struct sp_keyset *ks);

#endif
