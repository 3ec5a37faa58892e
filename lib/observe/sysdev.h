/* SPDX-License-Identifier: MIT */
/*
 * Block devices in /sys and /proc.  The roots of both are parameters, so that copies of other
 * machines' trees can be read.
 *
 * The functions only read files and have no state; any thread may call them.
 */
#pragma once

#include <limits.h>
#include <sys/types.h>
#include <spindle/api.h>

struct sp__sysdev {
	char dir[PATH_MAX];	 /* directory of the whole device in sysfs */
	char name[64];		 /* the last component of dir */
	bool partition;		 /* the requested device is a partition of it */
	char part_dir[PATH_MAX]; /* directory of the partition; dir if it is not a partition */
	unsigned major, minor;	 /* device number of the whole device; 0, 0: unknown */
};

/* Finds a device by number, or by name as in /sys/class/block.  Returns 0 or -errno. */
SP_MUST_CHECK int sp__sysdev_number(struct sp__sysdev *d, const char *sys, dev_t dev);
SP_MUST_CHECK int sp__sysdev_name(struct sp__sysdev *d, const char *sys, const char *name);

/* Opens dir/name.  Returns a descriptor or -errno. */
int sp__sys_open(const char *dir, const char *name, int flags);
/* Calls fn for each entry of dir/name that is a number.  Returns 0 or -errno. */
int sp__sys_each(const char *dir, const char *name, void (*fn)(void *arg, int number), void *arg);
/* Reads the first line of dir/name, without trailing blanks.  False: no such file. */
bool sp__sys_line(const char *dir, const char *name, char *text, size_t bytes);
/* Reads the whole file, up to bytes - 1.  False: no such file. */
bool sp__sys_text(const char *dir, const char *name, char *text, size_t bytes);
/* Reads a line that is a number.  False: it is not a number. */
bool sp__sys_number(const char *dir, const char *name, uint64_t *value);
bool sp__sys_exists(const char *dir, const char *name);

/* Copies the name in brackets of "none [mq-deadline] bfq", or the only name without brackets. */
void sp__sys_chosen(const char *line, char *word, size_t bytes);

/* A line of mountinfo. */
struct sp__mount {
	unsigned long long id;
	unsigned major, minor;
	char type[32], source[256];
};

/*
 * Finds the mount with this id, or if id is 0, the first mount of the device, in the text of
 * /proc/self/mountinfo.
 */
bool sp__mountinfo_find(const char *text, unsigned long long id, dev_t dev, struct sp__mount *m);
