/* SPDX-License-Identifier: MIT */
/*
 * Judges the control groups of the process.
 *
 * A limit on a device delays requests before they reach its scheduler, in order of arrival.  A
 * priority policy changes the priorities of all requests.  Both apply to a group and all groups
 * below it.
 */
#include <stdio.h>
#include <string.h>
#include "observe/preflight.h"

#define TEXT_BYTES 4096

/* Finds the group of the process in the hierarchy whose line contains mark. */
static bool group_path(const struct sp__preflight *p, const char *mark, char *path, size_t bytes)
{
	char text[TEXT_BYTES], *line, *rest = text;

	if (!sp__sys_text(p->proc, "self/cgroup", text, sizeof(text)))
		return false;
	while ((line = strsep(&rest, "\n")) != NULL) {
		char *second = strchr(line, ':'), *third = second ? strchr(second + 1, ':') : NULL;

		if (!third)
			continue;
		*third++ = '\0';
		if (!strcmp(second + 1, mark))
			return snprintf(path, bytes, "%s", third) < (int)bytes;
	}
	return false;
}

/* Returns the rest of the line "MAJOR:MINOR ..." of the device, or NULL. */
static const char *device_line(const char *text, const struct sp__sysdev *d)
{
	char mark[32];
	size_t n = (size_t)snprintf(mark, sizeof(mark), "%u:%u ", d->major, d->minor);

	for (; text; text = strchr(text, '\n') ? strchr(text, '\n') + 1 : NULL)
		if (!strncmp(text, mark, n))
			return text + n;
	return NULL;
}

static bool limited(const char *dir, const char *file, const struct sp__sysdev *d)
{
	char text[TEXT_BYTES];

	return sp__sys_text(dir, file, text, sizeof(text)) && device_line(text, d);
}

/* Inspects one group; name is for messages. */
static bool look(struct sp__preflight *p, const struct sp__sysdev *d, const char *dir,
		 const char *name)
{
	static const char *const files[] = { "io.max", "blkio.throttle.read_iops_device",
					     "blkio.throttle.write_iops_device",
					     "blkio.throttle.read_bps_device",
					     "blkio.throttle.write_bps_device" };
	char policy[64];
	bool found = false;

	if (sp__sys_line(dir, "io.prio.class", policy, sizeof(policy)) &&
	    strcmp(policy, "no-change") != 0) {
		sp__preflight_remark(p, true, "use a control group with io.prio.class no-change",
				     "control group %s: %s changes the classes of all requests",
				     name, policy);
		found = true;
	}
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (!limited(dir, files[i], d))
			continue;
		sp__preflight_remark(p, true, "use a control group without that limit",
				     "control group %s: its limit on %s (%s) holds requests back "
				     "before the scheduler, whatever their priority",
				     name, d->name, files[i]);
		return true;
	}
	return found;
}

static bool climb(struct sp__preflight *p, const struct sp__sysdev *d, const char *mount,
		  const char *mark)
{
	char path[1024], dir[PATH_MAX];

	if (!group_path(p, mark, path, sizeof(path)))
		return false;
	for (;;) {
		char *slash = strrchr(path, '/');

		if (snprintf(dir, sizeof(dir), "%s/%s%s", p->sys, mount, path) >= PATH_MAX)
			return false;
		if (look(p, d, dir, *path ? path : "/"))
			return true;
		if (!slash)
			return false;
		*slash = '\0';
	}
}

bool sp__preflight_groups(struct sp__preflight *p, const struct sp__sysdev *d)
{
	return climb(p, d, "fs/cgroup", "") || climb(p, d, "fs/cgroup/unified", "") ||
	       climb(p, d, "fs/cgroup/blkio", "blkio");
}
