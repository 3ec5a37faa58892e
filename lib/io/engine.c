/* SPDX-License-Identifier: MIT */
/*
 * Chooses an engine: by name, or the first in the table that opens.  If an engine that "auto" chose
 * fails at its first requests, its queue changes to the next.
 *
 * Also sets, reads and restores the I/O priority of the calling thread.
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <spindle/api.h>
#include "base/enum.h"
#include "base/err.h"
#include "io/engine.h"

/*
 * The engines, in the order in which "auto" tries them.  The table is static, because a static
 * archive drops objects that register themselves by constructors.
 */
static const struct sp__engine_ops *const table[] = {
	&sp__uring_engine, &sp__aio_engine, &sp__sync_engine,
	&sp__null_engine,  &sp__sim_engine, &sp__fault_engine,
};

#define NTABLE (sizeof(table) / sizeof(table[0]))

/* Opens the first engine from there on that "auto" tries and that opens. */
static int open_auto(const struct sp__engine_ops **ops, void **engine, size_t first,
		     const struct sp__engine_opts *opts, struct sp_errinfo *err)
{
	bool scarce = sp__fds_scarce();
	int rc = SP_EUNSUP;

	for (size_t i = first; i < NTABLE; i++) {
		if (!(table[i]->caps & SP__CAP_AUTO) || (table[i]->caps & SP__CAP_FD && scarce))
			continue;
		*ops = table[i];
		rc = table[i]->open(engine, opts, NULL);
		if (rc == 0 || rc == -ENOMEM)
			break;
	}
	return rc ? sp__err(err, rc, "open", "auto", -1) : 0;
}

bool sp__engine_is_auto(const char *name)
{
	return !name || strcmp(name, "auto") == 0;
}

int sp__engine_next(const struct sp__engine_ops **ops, void **engine,
		    const struct sp__engine_opts *opts)
{
	const struct sp__engine_ops *before = *ops;
	void *closing = *engine;
	size_t at = 0;
	int rc;

	while (table[at] != before)
		at++;
	rc = open_auto(ops, engine, at + 1, opts, NULL);
	if (rc == 0) {
		before->close(closing);
		return 0;
	}
	*ops = before;
	*engine = closing;
	return rc;
}

static bool named(const struct sp__engine_ops *ops, const char *name, const char **spec)
{
	size_t len = strlen(ops->name);

	if (strncmp(name, ops->name, len) != 0)
		return false;
	if (ops->caps & SP__CAP_WRAPS && name[len] == ':')
		*spec = name + len + 1;
	else
		*spec = name + len;
	return **spec == '\0' || (ops->caps & SP__CAP_WRAPS && name[len] == ':');
}

/*
 * True if the engine serves the volumes: real engines real ones, the simulating engine the others.
 */
static bool fits(const struct sp__engine_ops *ops, const struct sp__volume *device)
{
	return ops->caps & SP__CAP_WRAPS || !(ops->caps & SP__CAP_SIM) == !device;
}

int sp__engine_open(const struct sp__engine_ops **ops, void **engine, const char *name,
		    const struct sp__engine_opts *asked, struct sp_errinfo *err)
{
	struct sp__engine_opts opts = *asked;
	int rc;

	opts.spec = "";
	if (sp__engine_is_auto(name) && opts.device)
		name = sp__sim_engine.name;
	if (sp__engine_is_auto(name))
		return open_auto(ops, engine, 0, &opts, err);
	for (size_t i = 0; i < NTABLE; i++) {
		if (!named(table[i], name, &opts.spec))
			continue;
		if (!fits(table[i], opts.device))
			return sp__errf(err, SP_EUNSUP, "open", name, -1,
					"simulated volumes need the engine \"sim\", and no other "
					"volume can use it");
		*ops = table[i];
		rc = table[i]->open(engine, &opts, err);
		return rc ? sp__err(err, rc, "open", name, -1) : 0;
	}
	return sp__errf(err, -EINVAL, "open", name, -1, "no such I/O engine");
}

/* The engines that a user can choose. */
SP__ENUM_TABLE(sp_engine, { "io_uring", 0 }, { "libaio", 1 }, { "sync", 2 }, { "null", 3 },
	       { "auto", 4 })

SP__ENUM_TABLE(sp_direct, { "auto", -1 }, { "always", 1 }, { "never", 0 })

/* From linux/ioprio.h, which some systems lack. */
#define WHO_PROCESS 1
#define RT_4 (1 << 13 | 4)

int sp__ioprio_set(uint16_t prio)
{
	if (!prio)
		return 0;
	return syscall(SYS_ioprio_set, WHO_PROCESS, 0, (int)prio) < 0 ? -errno : 0;
}

long sp__ioprio_get(void)
{
	return syscall(SYS_ioprio_get, WHO_PROCESS, 0);
}

void sp__ioprio_restore(long before)
{
	/* A priority that was never set still reads as a class; 0 unsets it. */
	if (before >= 0 && syscall(SYS_ioprio_set, WHO_PROCESS, 0, (int)before) < 0)
		(void)!syscall(SYS_ioprio_set, WHO_PROCESS, 0, 0);
}

bool sp__ioprio_rt_allowed(void)
{
	long before = sp__ioprio_get();

	if (before < 0 || sp__ioprio_set(RT_4) < 0)
		return false;
	sp__ioprio_restore(before);
	return true;
}
