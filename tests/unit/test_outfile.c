/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <spindle/sort.h>
#include "sort/outfile.h"
#include "tap.h"

static char dir[] = "/tmp/sp-outfile.XXXXXX";

static void make(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");

	if (!f || fputs(text, f) < 0 || fclose(f))
		abort();
}

static bool holds(const char *name, const char *text)
{
	char buf[64] = "";
	FILE *f = fopen(name, "r");

	if (!f)
		return false;
	(void)!fread(buf, 1, sizeof(buf) - 1, f);
	fclose(f);
	return !strcmp(buf, text);
}

/* Files in the folder, to see whether a temporary one is left. */
static int files_here(void)
{
	FILE *p = popen("ls -A | wc -l", "r");
	int n = -1;

	if (!p || fscanf(p, "%d", &n) != 1)
		abort();
	pclose(p);
	return n;
}

static mode_t mode_of(const char *name)
{
	struct stat st;

	return stat(name, &st) ? 0 : st.st_mode & 07777;
}

static ino_t inode_of(const char *name)
{
	struct stat st;

	return stat(name, &st) ? 0 : st.st_ino;
}

/* Writes text to the output by its protocol; 0 or the error. */
static int write_all(const char *name, const char *text, bool commit)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__outfile o;
	int rc;

	sp__outfile_prepare(&o, name, -1);
	rc = sp__outfile_open(&o, &err);
	if (!rc && write(o.fd, text, strlen(text)) < 0)
		abort();
	if (!rc && commit)
		rc = sp__outfile_commit(&o, &err);
	sp__outfile_close(&o);
	return rc;
}

static void plain_files(void)
{
	umask(027);
	ok(write_all("new", "text", true) == 0 && holds("new", "text") && mode_of("new") == 0640,
	   "a new file has the mode that the mask leaves");
	make("old", "before");
	chmod("old", 0604);
	ok(write_all("old", "after", true) == 0 && holds("old", "after") && mode_of("old") == 0604,
	   "an old file keeps its mode");
	ok(write_all("old", "lost", false) == 0 && holds("old", "after"),
	   "what is not committed leaves the old file as it was");
	ok(write_all("none", "lost", false) == 0 && access("none", F_OK) != 0,
	   "and makes no new one");
	ok(files_here() == 2, "no temporary file is left");
}

static void links(void)
{
	struct stat st;
	ino_t before;

	make("target", "before");
	(void)!symlink("target", "link");
	ok(write_all("link", "after", true) == 0 && lstat("link", &st) == 0 &&
		   S_ISLNK(st.st_mode) && holds("target", "after"),
	   "a symbolic link stays one, its target is replaced");
	(void)!symlink("nowhere", "dangling");
	ok(write_all("dangling", "text", true) == 0 && holds("nowhere", "text"),
	   "a dangling one is written through");
	(void)!link("target", "second");
	before = inode_of("target");
	ok(write_all("target", "both", true) == 0 && holds("second", "both") &&
		   inode_of("target") == before,
	   "a file with two names is written in place");
}

static void refusals(void)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__outfile o;

	mkdir("folder", 0777);
	sp__outfile_prepare(&o, "folder", -1);
	ok(sp__outfile_open(&o, &err) == -EISDIR && !strcmp(err.path, "folder") &&
		   !strcmp(err.op, "open"),
	   "a folder is refused by its name");
	sp__outfile_close(&o);
	ok(write_all("missing/file", "", true) == -ENOENT, "as is a file in a folder that is not");
	ok(write_all("/dev/null", "text", true) == 0 && inode_of("/dev/null"),
	   "a device is written in place");
}

static void signals(void)
{
	struct sp__outfile o, second;
	int before = files_here();

	make("kept", "before");
	sp__outfile_prepare(&o, "kept", -1);
	ok(o.temp && files_here() == before + 2, "the result grows beside its place");
	sp_sort_cleanup_signal();
	ok(files_here() == before + 1 && holds("kept", "before"),
	   "a fatal signal's handler removes it and nothing else");
	sp__outfile_close(&o);
	sp_sort_cleanup_signal();
	ok(holds("kept", "before"), "and does nothing when there is none");
	sp__outfile_prepare(&o, "kept", -1);
	sp__outfile_prepare(&second, "other", -1);
	ok(o.temp && second.temp && files_here() == before + 3, "two results may grow at a time");
	sp_sort_cleanup_signal();
	ok(files_here() == before + 1, "the handler removes both");
	sp__outfile_close(&o);
	sp__outfile_close(&second);
}

static void descriptors(void)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__outfile o;
	int fd = open("given", O_WRONLY | O_CREAT, 0666);

	sp__outfile_prepare(&o, NULL, fd);
	ok(sp__outfile_open(&o, &err) == 0 && o.fd == fd && !o.temp &&
		   !strcmp(o.name, "standard output"),
	   "a descriptor is used as it is");
	ok(sp__outfile_commit(&o, &err) == 0, "and committed by doing nothing");
	sp__outfile_close(&o);
	ok(fcntl(fd, F_GETFD) >= 0, "it stays its owner's");
	close(fd);
}

int main(void)
{
	char cmd[64];

	if (!mkdtemp(dir) || chdir(dir))
		abort();
	plain_files();
	links();
	refusals();
	signals();
	descriptors();
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	return system(cmd) ? 2 : done();
}
