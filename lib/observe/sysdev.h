/* SPDX-License-Identifier: MIT */
/*
 * Block devices as the system shows them in its trees /sys and /proc.  The
 * roots of both are given, so that trees of other machines can be read.
 *
 * All functions are pure but for reading; any number of threads.
 */
#ifndef SP__OBSERVE_SYSDEV_H
#define SP__OBSERVE_SYSDEV_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <spindle/api.h>

struct sp__sysdev {
	char dir[PATH_MAX];	 /* of the whole device */
	char name[64];		 /* its last word */
	bool partition;		 /* what was asked for is a part of it: */
	char part_dir[PATH_MAX]; /* its folder; as dir if it is no part */
	unsigned major, minor;	 /* of the whole device; 0, 0 if not known */
};

/* By number, or by name as in /sys/class/block.  0 or -errno. */
SP_MUST_CHECK int sp__sysdev_number(struct sp__sysdev *d, const char *sys, unsigned major,
				    unsigned minor);
SP_MUST_CHECK int sp__sysdev_name(struct sp__sysdev *d, const char *sys, const char *name);

/* The first line of dir/name, without blanks at its end.  False: there is none. */
bool sp__sys_line(const char *dir, const char *name, char *text, size_t bytes);
/* The whole file, at most bytes - 1 of it.  False: there is none. */
bool sp__sys_text(const char *dir, const char *name, char *text, size_t bytes);
/* A line that is a number; false if it is none. */
bool sp__sys_number(const char *dir, const char *name, uint64_t *value);
bool sp__sys_exists(const char *dir, const char *name);

/* The word in brackets of "none [mq-deadline] bfq"; the only word if there are none. */
void sp__sys_chosen(const char *line, char *word, size_t bytes);

/* What is mounted: a line of mountinfo. */
struct sp__mount {
	unsigned long long id;
	unsigned major, minor;
	char type[32], source[256];
};

/*
 * The mount with that id, or if id is 0 the first one of that device, out of
 * the text of /proc/self/mountinfo.
 */
bool sp__mountinfo_find(const char *text, unsigned long long id, unsigned major, unsigned minor,
			struct sp__mount *m);

#endif
