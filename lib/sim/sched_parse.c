/* SPDX-License-Identifier: MIT */
/*
 * A scheduler and its parameters as text: NAME[:KEY=VALUE[/VALUE...][/KEY=...]].
 * A slash separates parameters and values alike (what has no "=" is a further
 * value), so that the text can be part of a list that commas separate.
 */
#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "base/err.h"
#include "sim/sched.h"

enum kind { TIME, COUNT, LEVELS };

static const struct key {
	const char *name;
	enum kind kind;
	size_t at;
} keys[] = {
	{ "read", TIME, offsetof(struct sp__sched_params, read_expire_ns) },
	{ "write", TIME, offsetof(struct sp__sched_params, write_expire_ns) },
	{ "aging", TIME, offsetof(struct sp__sched_params, aging_ns) },
	{ "batch", COUNT, offsetof(struct sp__sched_params, batch) },
	{ "starved", COUNT, offsetof(struct sp__sched_params, writes_starved) },
	{ "group", COUNT, offsetof(struct sp__sched_params, group) },
	{ "levels", LEVELS, 0 },
};

struct text {
	const char *p;
	size_t len;
};

static bool same(struct text t, const char *word)
{
	return strlen(word) == t.len && !memcmp(word, t.p, t.len);
}

/* Is the word one of those that spaces separate in list? */
static bool among(struct text t, const char *list)
{
	size_t n;

	for (; *list; list += n + (list[n] == ' ')) {
		n = strcspn(list, " ");
		if (n == t.len && !memcmp(list, t.p, n))
			return true;
	}
	return false;
}

static bool parse_count(struct text t, unsigned *out)
{
	unsigned v = 0;
	size_t i;

	for (i = 0; i < t.len && isdigit((unsigned char)t.p[i]) && v < 1000000; i++)
		v = v * 10 + (unsigned)(t.p[i] - '0');
	*out = v;
	return t.len && i == t.len && v >= 1 && v <= 1000000;
}

/* Seconds, or with a unit, to the nanosecond; at most a day, more than nothing. */
static bool parse_time(struct text t, uint64_t *ns)
{
	const uint64_t day = 86400ull * 1000000000;
	uint64_t unit = 1000000000, v = 0;
	size_t i, digits = t.len;
	bool point = false;

	while (digits && isalpha((unsigned char)t.p[digits - 1]))
		digits--;
	if (same((struct text){ t.p + digits, t.len - digits }, "ms"))
		unit = 1000000;
	else if (same((struct text){ t.p + digits, t.len - digits }, "us"))
		unit = 1000;
	else if (digits < t.len && !same((struct text){ t.p + digits, t.len - digits }, "s"))
		return false;
	if (!digits || !isdigit((unsigned char)t.p[0]) || !isdigit((unsigned char)t.p[digits - 1]))
		return false;
	for (i = 0; i < digits; i++) {
		if (t.p[i] == '.' && !point && v <= day / unit) {
			point = true;
			v *= unit;
			continue;
		}
		if (!isdigit((unsigned char)t.p[i]))
			return false;
		if (point)
			unit /= 10;
		v = point ? v + (uint64_t)(t.p[i] - '0') * unit : v * 10 + (uint64_t)(t.p[i] - '0');
		if (v > day)
			return false;
	}
	*ns = point ? v : v * unit;
	return (point || v <= day / unit) && *ns > 0 && *ns <= day;
}

static int bad_value(struct sp_errinfo *err, const char *spec, const struct key *k, struct text t)
{
	static const char *const want[] = {
		[TIME] = "a time above 0, as 0.25, 500ms or 3s",
		[COUNT] = "a number from 1 to 1000000",
		[LEVELS] = "1 to 8 times above 0, as 0.25/3/12",
	};

	return sp__errf(err, SP_ESYNTAX, "open", spec, -1, "scheduler: %s=%.*s: needs %s", k->name,
			(int)(t.len < 64 ? t.len : 64), t.p, want[k->kind]);
}

static bool set(struct sp__sched_params *p, const struct key *k, struct text value)
{
	void *at = (char *)p + k->at;

	if (k->kind == TIME)
		return parse_time(value, at);
	if (k->kind == COUNT)
		return parse_count(value, at);
	return p->levels < SP__SCHED_LEVELS_MAX &&
	       parse_time(value, &p->level_expire_ns[p->levels++]);
}

static const struct key *find_key(struct text name, const char *allowed)
{
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (same(name, keys[i].name) && among(name, allowed))
			return &keys[i];
	return NULL;
}

static int parse_params(const char *spec, const char *p, const struct sp__sched_ops *ops,
			struct sp__sched_params *params, struct sp_errinfo *err)
{
	const struct key *k = NULL;
	struct text t, name;

	for (;; p++) {
		t = (struct text){ p, strcspn(p, "/,") };
		name = (struct text){ p, strcspn(p, "=/,") };
		p += t.len;
		if (name.len < t.len) {
			k = find_key(name, ops->params);
			t.p += name.len + 1;
			t.len -= name.len + 1;
			if (k && k->kind == LEVELS)
				params->levels = 0;
		} else if (k && k->kind != LEVELS) {
			k = NULL;
		}
		if (!k)
			return sp__errf(err, SP_ESYNTAX, "open", spec, -1,
					"scheduler %s: unknown parameter '%.*s' (known: %s)",
					ops->name, (int)(name.len < 64 ? name.len : 64), name.p,
					*ops->params ? ops->params : "none");
		if (!set(params, k, t))
			return bad_value(err, spec, k, t);
		if (!*p)
			return 0;
	}
}

static int unknown(struct sp_errinfo *err, const char *spec, struct text name)
{
	char list[SP_ERRINFO_TEXT_MAX];
	size_t n = 0;
	unsigned i;

	for (i = 0; sp__sched_list(i) && n < sizeof(list); i++)
		n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%s", i ? ", " : "",
				      sp__sched_list(i)->name);
	return sp__errf(err, SP_ESYNTAX, "open", spec, -1, "unknown scheduler '%.*s' (known: %s)",
			(int)(name.len < 64 ? name.len : 64), name.p, list);
}

int sp__sched_parse(const char *text, const struct sp__sched_ops **ops,
		    struct sp__sched_params *params, struct sp_errinfo *err)
{
	struct text name = { text, strcspn(text, ":") };
	unsigned i;

	for (i = 0; sp__sched_list(i); i++)
		if (same(name, sp__sched_list(i)->name))
			break;
	*ops = sp__sched_list(i);
	if (!*ops)
		return unknown(err, text, name);
	return text[name.len] ? parse_params(text, text + name.len + 1, *ops, params, err) : 0;
}
