/* SPDX-License-Identifier: MIT */
/*
 * Finds block devices in sysfs, and reads its files and mountinfo.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "observe/sysdev.h"

/* Joins the names.  False: the path would be too long. */
static bool join(char path[PATH_MAX], const char *dir, const char *name)
{
	return snprintf(path, PATH_MAX, "%s/%s", dir, name) < PATH_MAX;
}

int sp__sys_open(const char *dir, const char *name, int flags)
{
	char path[PATH_MAX];
	int fd;

	if (!join(path, dir, name))
		return -ENAMETOOLONG;
	fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int sp__sys_each(const char *dir, const char *name, void (*fn)(void *arg, int number), void *arg)
{
	char path[PATH_MAX];
	struct dirent *e;
	DIR *d;

	if (!join(path, dir, name))
		return -ENAMETOOLONG;
	d = opendir(path);
	if (!d)
		return -errno;
	while ((e = readdir(d)) != NULL)
		if (isdigit((unsigned char)e->d_name[0]))
			fn(arg, atoi(e->d_name));
	closedir(d);
	return 0;
}

bool sp__sys_text(const char *dir, const char *name, char *text, size_t bytes)
{
	ssize_t n = -1;
	size_t used = 0;
	int fd = sp__sys_open(dir, name, O_RDONLY);

	if (fd < 0)
		return false;
	while (used + 1 < bytes && (n = read(fd, text + used, bytes - 1 - used)) > 0)
		used += (size_t)n;
	close(fd);
	text[used] = '\0';
	return n >= 0 || used;
}

bool sp__sys_line(const char *dir, const char *name, char *text, size_t bytes)
{
	size_t n;

	if (!sp__sys_text(dir, name, text, bytes))
		return false;
	n = strcspn(text, "\n");
	while (n && isspace((unsigned char)text[n - 1]))
		n--;
	text[n] = '\0';
	return true;
}

bool sp__sys_number(const char *dir, const char *name, uint64_t *value)
{
	char text[32], *end;
	unsigned long long v;

	if (!sp__sys_line(dir, name, text, sizeof(text)) || !isdigit((unsigned char)*text))
		return false;
	errno = 0;
	v = strtoull(text, &end, 10);
	if (errno || *end)
		return false;
	*value = v;
	return true;
}

bool sp__sys_exists(const char *dir, const char *name)
{
	char path[PATH_MAX];

	return join(path, dir, name) && access(path, F_OK) == 0;
}

void sp__sys_chosen(const char *line, char *word, size_t bytes)
{
	const char *open = strchr(line, '['), *close = open ? strchr(open, ']') : NULL;

	if (close)
		snprintf(word, bytes, "%.*s", (int)(close - open - 1), open + 1);
	else
		snprintf(word, bytes, "%.*s", (int)strcspn(line, " "), line);
}

/* Finds the whole device; path: of the device or of a partition, can contain links. */
static int resolve(struct sp__sysdev *d, const char *path)
{
	char number[32], *slash;

	memset(d, 0, sizeof(*d));
	if (!realpath(path, d->part_dir))
		return -errno;
	memcpy(d->dir, d->part_dir, sizeof(d->dir));
	d->partition = sp__sys_exists(d->dir, "partition");
	slash = strrchr(d->dir, '/');
	if (d->partition && slash) {
		*slash = '\0';
		slash = strrchr(d->dir, '/');
	}
	if (!slash || snprintf(d->name, sizeof(d->name), "%s", slash + 1) >= (int)sizeof(d->name))
		return -ENAMETOOLONG;
	if (sp__sys_line(d->dir, "dev", number, sizeof(number)))
		(void)sscanf(number, "%u:%u", &d->major, &d->minor);
	return 0;
}

int sp__sysdev_number(struct sp__sysdev *d, const char *sys, dev_t dev)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/dev/block/%u:%u", sys, major(dev), minor(dev)) >=
	    PATH_MAX)
		return -ENAMETOOLONG;
	return resolve(d, path);
}

int sp__sysdev_name(struct sp__sysdev *d, const char *sys, const char *name)
{
	char path[PATH_MAX];

	if (!*name || strchr(name, '/') || !strcmp(name, ".") || !strcmp(name, ".."))
		return -ENOENT;
	if (snprintf(path, sizeof(path), "%s/class/block/%s", sys, name) >= PATH_MAX)
		return -ENAMETOOLONG;
	if (access(path, F_OK) &&
	    snprintf(path, sizeof(path), "%s/block/%s", sys, name) >= PATH_MAX)
		return -ENAMETOOLONG;
	return resolve(d, path);
}

/* Type and source follow a dash, since the fields before it are optional. */
static bool mount_line(const char *line, size_t len, struct sp__mount *m)
{
	char text[4096];
	const char *dash;

	if (len >= sizeof(text))
		return false;
	memcpy(text, line, len);
	text[len] = '\0';
	dash = strstr(text, " - ");
	return dash && sscanf(text, "%llu %*u %u:%u", &m->id, &m->major, &m->minor) == 3 &&
	       sscanf(dash, " - %31s %255s", m->type, m->source) == 2;
}

bool sp__mountinfo_find(const char *text, unsigned long long id, dev_t dev, struct sp__mount *m)
{
	while (*text) {
		size_t len = strcspn(text, "\n");

		if (mount_line(text, len, m) &&
		    (id ? m->id == id : makedev(m->major, m->minor) == dev))
			return true;
		text += len + (text[len] == '\n');
	}
	return false;
}
