/* SPDX-License-Identifier: MIT */
/*
 * Replaces priority class RT if the process is not allowed to use it.
 *
 * Class RT needs a capability.  Without it, RT becomes BE and all lower classes become IDLE; these
 * need no capability, and the order stays.  If a class is IDLE already, three ranks cannot become
 * two, and the run is refused.
 */
#include <stdio.h>
#include <string.h>
#include "base/err.h"
#include "bench/state.h"
#include "io/ioprio.h"

static unsigned class_of(uint16_t prio)
{
	return prio >> 13;
}

static const struct sp_enum_value classes[] = {
	{ "default", SP_BENCH_NONE }, { "none", SP_BENCH_NONE }, { "rt", SP_BENCH_RT },
	{ "be", SP_BENCH_BE },	      { "idle", SP_BENCH_IDLE }, { NULL, 0 }
};

static bool has_levels(int class)
{
	return class == SP_BENCH_RT || class == SP_BENCH_BE;
}

const char *sp_bench_prio_name(uint16_t prio, char text[16])
{
	int class = prio >> 13 & 3;

	if (has_levels(class))
		snprintf(text, 16, "%s/%u", sp_enum_name(classes, class), prio & 7u);
	else
		snprintf(text, 16, "%s", sp_enum_name(classes, class));
	return text;
}

int sp_bench_prio_parse(const char *text, uint16_t *prio)
{
	size_t len = strcspn(text, "/");
	const char *level = text + len;

	for (const struct sp_enum_value *c = classes; c->name; c++) {
		bool levels = has_levels(c->value);

		if (strncmp(c->name, text, len) != 0 || c->name[len])
			continue;
		if (*level && (!levels || level[1] < '0' || level[1] > '7' || level[2]))
			break;
		*prio = SP_BENCH_PRIO(c->value, *level ? level[1] - '0' : levels ? 4 : 0);
		return 0;
	}
	return -EINVAL;
}

int sp__bench_settle_prios(struct sp_bench *b, struct sp_errinfo *err)
{
	bool rt = false, idle = false;

	for (size_t i = 0; i < b->nclasses; i++) {
		rt |= class_of(b->classes[i]->spec.prio) == SP_BENCH_RT;
		idle |= class_of(b->classes[i]->spec.prio) == SP_BENCH_IDLE;
	}
	if (!rt || b->device || sp__ioprio_rt_allowed())
		return 0;
	if (b->opts.no_fallback || idle)
		return sp__errf(err, -EPERM, "check", "", -1,
				"priority class rt needs CAP_SYS_NICE%s",
				idle ? ", and with class idle no class below be is left" : "");
	for (size_t i = 0; i < b->nclasses; i++) {
		struct sp_bench_class *c = &b->classes[i]->spec;

		if (class_of(c->prio) == SP_BENCH_RT)
			c->prio = SP_BENCH_PRIO(SP_BENCH_BE, c->prio & 7);
		else
			c->prio = SP_BENCH_PRIO(SP_BENCH_IDLE, 0);
	}
	b->result.prio_fallback = true;
	sp_no_effects_add(&b->result.no_effects, "prio of --class",
			  "class rt needs CAP_SYS_NICE; be and idle were used instead");
	return 0;
}
