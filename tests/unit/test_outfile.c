/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <spindle/outfile.h>
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
	struct sp_outfile *o;
	int rc = sp_outfile_open(&o, name, 0, &err), fd;

	if (rc)
		return rc;
	fd = sp_outfile_begin(o, &err);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		abort();
	if (commit)
		rc = sp_outfile_commit(o, &err);
	sp_outfile_close(o, &err);
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
	   "without a commit the old file is unchanged");
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
	struct sp_outfile *o;

	mkdir("folder", 0777);
	ok(sp_outfile_open(&o, "folder", 0, &err) == -EISDIR && !o && !strcmp(err.path, "folder") &&
		   !strcmp(err.op, "open"),
	   "a folder is refused by its name");
	ok(write_all("missing/file", "", true) == -ENOENT, "as is a file in a folder that is not");
	ok(write_all("folder/", "", true) == -EISDIR && write_all("none/", "", true) == -EISDIR &&
		   write_all("", "", true) == -ENOENT,
	   "and a name that no file can have");
	(void)!symlink("ring", "gnir");
	(void)!symlink("gnir", "ring");
	ok(write_all("ring", "", true) == -ELOOP, "and links in a ring");
	ok(write_all("/dev/null", "text", true) == 0 && inode_of("/dev/null"),
	   "a device is written in place");
	if (access("/dev/full", W_OK))
		skip("a full device stays what it is", "there is no /dev/full");
	else
		ok(sp_outfile_open(&o, "/dev/full", 0, &err) == 0 && sp_outfile_in_place(o),
		   "a full device stays what it is");
	sp_outfile_close(o, NULL);
}

/* An uncommitted output leaves no change, or, if the file was truncated, an error. */
static void in_place(void)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_outfile *o;
	int fd;

	make("one", "before");
	(void)!link("one", "two");
	ok(sp_outfile_open(&o, "one", 0, &err) == 0 && sp_outfile_in_place(o) &&
		   holds("two", "before"),
	   "an output in place is not emptied by opening it");
	sp_outfile_close(o, &err);
	ok(holds("two", "before") && err.code == 0, "closing it does not change it");
	(void)!sp_outfile_open(&o, "one", 0, &err);
	fd = sp_outfile_begin(o, &err);
	ok(holds("two", "") && sp_outfile_begin(o, &err) == fd, "beginning empties it, once");
	err.code = -ENOSPC;
	strcpy(err.path, "one");
	sp_outfile_close(o, &err);
	ok(!strcmp(err.text, "No space left on device; the old content is gone"),
	   "an error says then that the old content is gone");
	make("one", "before");
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	(void)!sp_outfile_open(&o, "one", 0, &err);
	(void)!sp_outfile_begin(o, &err);
	err.code = -EIO;
	strcpy(err.path, "tmp");
	sp_outfile_close(o, &err);
	ok(!strcmp(err.text, "Input/output error; the old content of one is gone"),
	   "with its name if the error is that of another file");
}

/* Begins name again next to itself; the number of entries that are there then. */
static int begun(const char *name, struct sp_outfile **o)
{
	int fd;

	if (sp_outfile_open(o, name, 0, NULL) || sp_outfile_in_place(*o))
		return -1;
	fd = sp_outfile_begin(*o, NULL);
	return fd < 0 || write(fd, "after", 5) != 5 ? -1 : files_here();
}

static void without_name(void)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	int before, fd = open(".", O_TMPFILE | O_WRONLY, 0600);
	struct sp_outfile *o;

	if (fd < 0) {
		skip("a result has no name until it is complete", "no O_TMPFILE here");
		return;
	}
	close(fd);
	make("kept", "before");
	before = files_here();
	ok(begun("kept", &o) == before, "a result has no name until it is complete");
	make("fresh", "of another");
	ok(sp_outfile_commit(o, &err) == 0 && holds("kept", "after") && files_here() == before + 1,
	   "then it replaces the old file");
	sp_outfile_close(o, &err);
	unlink("fresh");
	begun("fresh", &o);
	make("fresh", "of another");
	ok(sp_outfile_commit(o, &err) == 0 && holds("fresh", "after"),
	   "also one that has come meanwhile");
	sp_outfile_close(o, &err);
}

static void live(void)
{
	struct sp_outfile *o;
	FILE *f = NULL;

	if (sp_outfile_open(&o, "log", SP_OUTFILE_LIVE, NULL) || sp_outfile_stream(o, &f, NULL) ||
	    fputs("line", f) < 0 || fflush(f))
		abort();
	ok(sp_outfile_in_place(o) && holds("log", "line"), "a live output can be read immediately");
	ok(sp_outfile_commit(o, NULL) == 0, "and is complete in the end");
	sp_outfile_close(o, NULL);
}

/* As with /dev/stdout: other output to the descriptor stays. */
static void standard(void)
{
	int saved = dup(STDERR_FILENO), fd = open("shared", O_WRONLY | O_CREAT | O_TRUNC, 0666);
	bool good;

	dup2(fd, STDERR_FILENO);
	good = write(STDERR_FILENO, "head ", 5) == 5 && write_all("shared", "text", true) == 0 &&
	       write(STDERR_FILENO, " tail", 5) == 5;
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(fd);
	ok(good && holds("shared", "head text tail"),
	   "an output that is also standard error is written at that offset");
}

static void long_names(void)
{
	char name[256];

	memset(name, 'n', 255);
	name[255] = '\0';
	make(name, "before");
	ok(write_all(name, "after", true) == 0 && holds(name, "after"),
	   "the longest name leaves room for a temporary one");
}

static void sets(void)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_output_set set = { 0 };

	make("in", "");
	(void)!link("in", "in2");
	(void)!symlink("in2", "in3");
	ok(sp_output_set_add(&set, "out", "--one", true, NULL) == 0 &&
		   sp_output_set_add(&set, "in", "--two", false, NULL) == 0,
	   "outputs are added, also one that does not exist yet");
	ok(sp_output_set_add(&set, "./out", "--three", false, &err) == SP_EUNSUP &&
		   !strcmp(err.text, "--one and --three would both write it"),
	   "the same one is refused");
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	ok(sp_output_set_check_input(&set, "in3", &err) == SP_EUNSUP && !strcmp(err.path, "in3") &&
		   !strcmp(err.text, "--two would overwrite it"),
	   "inputs are recognised by device and inode");
	ok(sp_output_set_check_input(&set, "../in", NULL) == 0 &&
		   sp_output_set_check_input(&set, "other", NULL) == 0,
	   "another file is no matter");
	make("out", "");
	set.n = 0;
	ok(sp_output_set_add(&set, "out", "--one", true, NULL) == 0 &&
		   sp_output_set_check_input(&set, "out", NULL) == 0,
	   "a result may be what was read");
	ok(sp_output_set_add(&set, "/dev/null", "--two", false, NULL) == 0 &&
		   sp_output_set_add(&set, "/dev/null", "--three", false, NULL) == 0 && set.n == 1,
	   "devices that are not disks may be written twice");
}

int main(void)
{
	char cmd[64];

	if (!mkdtemp(dir) || chdir(dir))
		abort();
	plain_files();
	links();
	refusals();
	in_place();
	without_name();
	live();
	standard();
	long_names();
	sets();
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	return system(cmd) ? 2 : done();
}
