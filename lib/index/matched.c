/* SPDX-License-Identifier: MIT */
#include "index/matched.h"

/* Begins to fetch as many as there is room for. */
static int fetch_some(struct sp__matched *p)
{
	int rc = 0;

	while (!rc && p->n && sp__fetch_has_space(p->fetch, p->matches)) {
		rc = sp__fetch_put(p->fetch, p->matches++);
		p->n--;
	}
	return rc;
}

static int find_more(struct sp__matched *p)
{
	if (!p->n && p->status != SP_END)
		p->status = p->find(p->arg, &p->matches, &p->n);
	return p->status < 0 ? p->status : 0;
}

/* The next place, where no records are fetched. */
static int next_place(struct sp__matched *p, struct sp__keymatch *m)
{
	int rc = 0;

	while (!rc && !p->n && (p->status == SP_READY || p->status == SP_LATER)) {
		rc = find_more(p);
		if (p->status == SP_LATER)
			return SP_LATER;
	}
	if (rc || !p->n)
		return rc;
	*m = *p->matches++;
	p->n--;
	return SP_READY;
}

int sp__matched_next(struct sp__matched *p, struct sp__keymatch *m, const char **record)
{
	int rc;

	*record = NULL;
	if (!p->fetch)
		return next_place(p, m);
	for (;;) {
		bool full;

		rc = fetch_some(p);
		full = p->n;
		if (!rc)
			rc = find_more(p);
		if (!rc)
			rc = sp__fetch_get(p->fetch, m, record);
		if (rc == SP_READY || rc < 0)
			return rc;
		if (!full && p->status == SP_READY)
			continue; /* found more, or something without a match */
		if (rc == SP_LATER || p->status == SP_LATER)
			return SP_LATER;
		return SP_END;
	}
}
