/* SPDX-License-Identifier: MIT */
/*
 * Calls the verbs of an adapter.
 *
 * What a verb prints goes to a file, LOGS/SYSTEM-VERB.out, so that nothing has to be read while it
 * runs; standard error of all calls is LOGS/SYSTEM.log.
 */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/err.h"
#include "dbm/adapter.h"

struct environment {
	const char **variables; /* ends with NULL; the last `own` ones are its own */
	size_t n, own;
};

#define PREFIX "DBM_"
#define OWN_MAX 8

extern char **environ;

/* Adds a variable; a format with a value that is NULL is left out. */
static int add(struct environment *e, const char *format, ...)
{
	va_list args;
	char *text;
	int n;

	va_start(args, format);
	n = vasprintf(&text, format, args);
	va_end(args);
	if (n < 0)
		return -ENOMEM;
	e->variables[e->n++] = text;
	e->own++;
	return 0;
}

static int add_own(struct environment *e, const struct sp__adapter *a)
{
	const struct sp__dbm_place *p = a->place;
	int rc = add(e, PREFIX "FOLDER=%s", a->folder);

	if (!rc)
		rc = add(e, PREFIX "PARALLEL=%u", p->parallel);
	if (!rc)
		rc = add(e, PREFIX "RECORD_BYTES=%u", (unsigned)p->record_bytes);
	if (!rc)
		rc = add(e, PREFIX "WRAP=%s", p->wrap ? p->wrap : "");
	if (!rc && p->wrap)
		rc = add(e, PREFIX "COUNTERS=sim");
	if (!rc && p->t1)
		rc = add(e, PREFIX "T1=%s", p->t1);
	if (!rc && p->t2)
		rc = add(e, PREFIX "T2=%s", p->t2);
	return rc;
}

static void environment_free(struct environment *e)
{
	for (size_t i = e->n - e->own; e->variables && i < e->n; i++)
		free((char *)(uintptr_t)e->variables[i]);
	free(e->variables);
	*e = (struct environment){ 0 };
}

/* Returns 0 or -ENOMEM. */
static int environment_make(struct environment *e, const struct sp__adapter *a)
{
	size_t n = 0;
	int rc;

	while (environ[n])
		n++;
	*e = (struct environment){ .variables = calloc(n + OWN_MAX + 1, sizeof(char *)) };
	if (!e->variables)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (strncmp(environ[i], PREFIX, strlen(PREFIX)))
			e->variables[e->n++] = environ[i];
	rc = add_own(e, a);
	if (rc)
		environment_free(e);
	return rc;
}

#define WORDS_MAX 8
#define DROP_NS UINT64_C(60000000000)

static char *path_of(const char *folder, const char *name, const char *suffix)
{
	char *path;

	return asprintf(&path, "%s/%s%s", folder, name, suffix) < 0 ? NULL : path;
}

/* Returns the absolute path of a file; if it is a link, that of the link, since its name counts. */
static char *absolute(const char *folder, const char *name)
{
	char *all = folder && name ? realpath(folder, NULL) : NULL;
	char *path = all ? path_of(all, name, "") : NULL;

	free(all);
	return path;
}

int sp__adapter_open(struct sp__adapter *a, const struct sp__dbm_place *place, const char *text,
		     const char *adapters, const char *work, struct sp_errinfo *err)
{
	const char *slash = strrchr(text, '/');
	char *own = slash ? strndup(text, (size_t)(slash - text) + 1) : NULL;

	*a = (struct sp__adapter){ .place = place };
	a->name = strdup(slash ? slash + 1 : text);
	a->path = absolute(slash ? own : adapters, a->name);
	a->folder = a->path ? path_of(work, a->name, "") : NULL;
	if (!a->folder) {
		const int rc = a->path ? -ENOMEM : -errno;

		free(own);
		return sp__err(err, rc, "open", text, -1);
	}
	free(own);
	if (access(a->path, X_OK))
		return slash || errno != ENOENT
			       ? sp__err(err, -errno, "execute", a->path, -1)
			       : sp__errf(
					 err, -ENOENT, "open", text, -1,
					 "there is no such system; the systems command lists them, "
					 "an adapter of your own is given by a path with a slash");
	return 0;
}

void sp__adapter_close(struct sp__adapter *a)
{
	free(a->name);
	free(a->path);
	free(a->folder);
	*a = (struct sp__adapter){ 0 };
}

/* Files of a call. */
struct files {
	char *in, *out, *log;
	long long log_from; /* bytes that the log had before */
};

static void free_files(struct files *f)
{
	free(f->in);
	free(f->out);
	free(f->log);
}

/* number: of a client; 0: the only one. */
static int name_files(const struct sp__adapter *a, const char *verb, unsigned number,
		      struct files *f)
{
	char suffix[64];
	struct stat st;

	*f = (struct files){ 0 };
	snprintf(suffix, sizeof(suffix), number ? "-%.20s.%u" : "-%.20s", verb, number);
	if (asprintf(&f->out, "%s/%s%s.out", a->place->logs, a->name, suffix) < 0)
		f->out = NULL;
	if (asprintf(&f->in, "%s/%s%s.in", a->place->logs, a->name, suffix) < 0)
		f->in = NULL;
	f->log = path_of(a->place->logs, a->name, ".log");
	if (!f->out || !f->in || !f->log)
		return -ENOMEM;
	f->log_from = stat(f->log, &st) ? 0 : (long long)st.st_size;
	return 0;
}

/* Reads the beginning of a file from an offset on, or its end: its last line. */
static void read_text(const char *path, long long from, bool last, char *text, size_t capacity)
{
	FILE *f = fopen(path, "re");
	size_t n = 0;

	*text = 0;
	if (!f)
		return;
	if (last) {
		while (fseek(f, (long)from, SEEK_SET) == 0 && fgets(text, (int)capacity, f)) {
			from = ftell(f);
			n = strlen(text);
		}
	} else if (fseek(f, (long)from, SEEK_SET) == 0) {
		n = fread(text, 1, capacity - 1, f);
	}
	fclose(f);
	text[n] = 0;
	while (n && text[n - 1] == '\n')
		text[--n] = 0;
}

/* Describes how a call ended that has failed. */
static int failed(const struct sp__adapter *a, const char *verb, const struct sp__dbm_call *c,
		  const struct files *f, struct sp_errinfo *err)
{
	char line[160], how[64];

	read_text(f->log, f->log_from, true, line, sizeof(line));
	if (WIFSIGNALED(c->status))
		snprintf(how, sizeof(how), "was ended by signal %d", WTERMSIG(c->status));
	else
		snprintf(how, sizeof(how), "ended with status %d", WEXITSTATUS(c->status));
	return sp__errf(err, SP_ECHILD, "call", a->path, -1, "verb %s %s%s%s", verb, how,
			*line ? ": " : "", line);
}

static int described(const struct sp__adapter *a, const char *verb, int rc, struct sp_errinfo *err)
{
	if (rc == -ETIMEDOUT)
		return sp__errf(err, rc, "call", a->path, -1,
				"verb %s has not ended after %.0f s; --timeout allows more", verb,
				(double)a->place->limits.timeout_ns / 1e9);
	return rc == -ECANCELED ? sp__err(err, rc, "call", a->path, -1) : rc;
}

int sp__adapter_call(struct sp__adapter *a, const char *const *arguments, char *lines,
		     size_t capacity, struct sp_errinfo *err)
{
	const char *argv[WORDS_MAX] = { a->path };
	struct sp__dbm_call c = { .argv = argv, .folder = a->folder };
	struct environment e;
	struct files f;
	int rc;

	for (int i = 0; arguments[i]; i++)
		argv[i + 1] = arguments[i];
	rc = name_files(a, arguments[0], 0, &f);
	if (!rc)
		rc = environment_make(&e, a);
	if (rc) {
		free_files(&f);
		return sp__err(err, rc, "call", a->path, -1);
	}
	c.variables = e.variables;
	c.out = f.out;
	c.log = f.log;
	rc = described(a, arguments[0], sp__calls_run(&c, 1, &a->place->limits, err), err);
	if (!rc && c.status)
		rc = failed(a, arguments[0], &c, &f, err);
	if (!rc && lines)
		read_text(f.out, 0, false, lines, capacity);
	environment_free(&e);
	free_files(&f);
	return rc;
}

bool sp__adapter_at_fault(int rc)
{
	return rc == SP_ECHILD || rc == -ETIMEDOUT || rc == -ENOENT || rc == -EACCES ||
	       rc == -ENOEXEC;
}

const char *sp__adapter_reason(const struct sp_errinfo *err)
{
	return *err->text ? err->text : sp_strerror(err->code);
}

int sp__adapter_version(struct sp__adapter *a, char line[SP__ADAPTER_LINE], struct sp_errinfo *err)
{
	static const char *const arguments[] = { "version", NULL };
	struct sp_errinfo reason = SP_ERRINFO_INIT;
	int rc = sp__adapter_call(a, arguments, line, SP__ADAPTER_LINE, &reason);

	if (sp__adapter_at_fault(rc)) {
		const char *text = rc == SP_ECHILD ? strstr(reason.text, ": ") : NULL;

		snprintf(line, SP__ADAPTER_LINE, "%s",
			 text ? text + 2 : sp__adapter_reason(&reason));
		return 1;
	}
	if (rc) {
		*err = reason;
		return rc;
	}
	line[strcspn(line, "\n")] = 0;
	if (*line)
		return 0;
	strcpy(line, "verb version printed nothing");
	return 1;
}

/* Reads the numbers of the system's servers. */
static int find_servers(struct sp__adapter *a, struct sp__dbm_servers *s, struct sp_errinfo *err)
{
	static const char *const arguments[] = { "pids", NULL };
	char text[4096], *at = text, *end;
	int rc = sp__adapter_call(a, arguments, text, sizeof(text), err);

	s->n = 0;
	while (!rc && *at && s->n < SP__SERVERS_MAX) {
		long pid = strtol(at, &end, 10);

		if (end == at || pid <= 0)
			return sp__errf(
				err, SP_ECHILD, "call", a->path, -1,
				"verb pids printed %.40s, which is not the number of a process",
				at);
		s->pids[s->n++] = (pid_t)pid;
		at = end + strspn(end, " \n");
	}
	return rc;
}

static int write_questions(const char *path, const struct sp__dbm_question *q, unsigned n)
{
	FILE *f = fopen(path, "we");
	int rc = 0;

	if (!f)
		return -errno;
	for (unsigned i = 0; i < n; i++)
		fprintf(f, "%s %u %u\n", sp_dbm_query_name(q[i].query), q[i].lo, q[i].hi);
	rc = ferror(f) ? -EIO : 0;
	return fclose(f) && !rc ? -errno : rc;
}

/* The calls of one unit. */
struct unit {
	struct sp__adapter *a;
	const struct sp__dbm_question *questions;
	unsigned n, clients;
	struct sp__dbm_call *calls;
	struct files *files;
	struct environment environment;
};

static int prepare(struct unit *u, const char *const *argv, struct sp_errinfo *err)
{
	int rc = environment_make(&u->environment, u->a);

	for (unsigned i = 0; !rc && i < u->clients; i++) {
		struct files *f = &u->files[i];

		rc = name_files(u->a, "run", u->clients > 1 ? i + 1 : 0, f);
		if (!rc)
			rc = write_questions(f->in, u->questions + (size_t)i * u->n, u->n);
		u->calls[i] = (struct sp__dbm_call){ .argv = argv,
						     .variables = u->environment.variables,
						     .folder = u->a->folder,
						     .in = f->in,
						     .out = f->out,
						     .log = f->log };
	}
	return rc ? sp__err(err, rc, "write", u->a->place->logs, -1) : 0;
}

/* Returns 0 if all calls have ended with status 0. */
static int check_status(const struct unit *u, struct sp_errinfo *err)
{
	for (unsigned i = 0; i < u->clients; i++)
		if (u->calls[i].status)
			return failed(u->a, "run", &u->calls[i], &u->files[i], err);
	return 0;
}

/* Runs the calls of all clients and counts what they use. */
static int measure(struct unit *u, struct sp_dbm_usage *used, struct sp_errinfo *err)
{
	struct sp__dbm_servers servers;
	struct sp__usage_mark mark;
	uint64_t begin, end = 0;
	int rc = find_servers(u->a, &servers, err);

	if (rc)
		return rc;
	rc = sp__counting_begin(u->a->place->counting, &servers, err);
	if (rc)
		return rc;
	sp__usage_mark(&mark, &servers);
	begin = sp__now_ns();
	rc = described(u->a, "run", sp__calls_run(u->calls, u->clients, &u->a->place->limits, err),
		       err);
	if (!rc)
		rc = check_status(u, err);
	if (rc) {
		(void)!sp__counting_end(u->a->place->counting, NULL, NULL);
		return rc;
	}
	for (unsigned i = 0; i < u->clients; i++) {
		sp__usage_add_child(used, &u->calls[i].used);
		end = u->calls[i].ended_ns > end ? u->calls[i].ended_ns : end;
	}
	used->wall_s += (double)(end - begin) / 1e9;
	sp__usage_add_since(used, &mark, &servers);
	return sp__counting_end(u->a->place->counting, used, err);
}

static int check(const struct unit *u, const struct sp__dbm_truth *truth, struct sp_errinfo *err)
{
	int rc = 0;

	for (unsigned i = 0; !rc && i < u->clients; i++)
		rc = sp__answers_check(u->files[i].out, truth, u->questions + (size_t)i * u->n,
				       u->n, err);
	return rc;
}

int sp__adapter_run(struct sp__adapter *a, const struct sp__dbm_truth *truth,
		    const struct sp__dbm_question *questions, unsigned n, unsigned clients,
		    struct sp_dbm_usage *used, struct sp_errinfo *err)
{
	const char *const argv[] = { a->path, "run", NULL };
	struct unit u = { .a = a, .questions = questions, .n = n, .clients = clients };
	int rc = 0;

	u.calls = calloc(clients, sizeof(*u.calls));
	u.files = calloc(clients, sizeof(*u.files));
	if (!u.calls || !u.files)
		rc = sp__err(err, -ENOMEM, "call", a->path, -1);
	if (!rc)
		rc = prepare(&u, argv, err);
	if (!rc)
		rc = measure(&u, used, err);
	if (!rc)
		rc = check(&u, truth, err);
	for (unsigned i = 0; u.files && i < clients; i++)
		free_files(&u.files[i]);
	environment_free(&u.environment);
	free(u.files);
	free(u.calls);
	return rc;
}

int sp__adapter_drop(struct sp__adapter *a, struct sp_errinfo *err)
{
	static const char *const arguments[] = { "drop", NULL };
	const struct sp__dbm_place *was = a->place;
	struct sp__dbm_place place;
	int rc;

	if (!a->started)
		return 0;
	place = *was;
	place.limits = (struct sp__dbm_limits){ .timeout_ns = DROP_NS };
	a->place = &place;
	rc = sp__adapter_call(a, arguments, NULL, 0, err);
	a->place = was;
	a->started = false;
	return rc;
}
