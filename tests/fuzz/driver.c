/* SPDX-License-Identifier: MIT */
/*
 * main() for fuzz targets, where there is no libFuzzer.
 *
 *	fuzz_x [-t SECONDS] [-n INPUTS] [-s SEED|random] [FILE|DIRECTORY...]
 *
 * Replays the files given (without any: tests/fuzz/corpus/fuzz_x, if it is
 * there), then makes inputs for SECONDS (default 1) or until INPUTS have been
 * tried: some from nothing, most by changing files of the corpus.  With the
 * same seed the inputs come in the same order, so a time limit cuts the series
 * but does not change it.  Says TAP.
 *
 * A target defines LLVMFuzzerTestOneInput() and aborts on what must not be.  It
 * may define sp_fuzz_tokens, words of its language that blind chance would not
 * find (NULL at the end).  There is no coverage feedback: targets of a few
 * hundred lines, which these are, do without; LIBFUZZER=1 has it.
 *
 * The input in hand when the target dies, or stays in one input for more than
 * TOO_LONG seconds, is written to build/fuzz_x.crash (or to the directory
 * SP_FUZZ_CRASH); replay it by naming the file.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define INPUT_MAX 65536
#define CORPUS_MAX 4096
#define TOO_LONG 10

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
extern const char *const sp_fuzz_tokens[] __attribute__((weak));
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

struct input {
	uint8_t *data;
	size_t size;
};

static struct input corpus[CORPUS_MAX];
static size_t ncorpus;
static uint8_t buffer[INPUT_MAX];
static struct input now; /* what the target is looking at */
static volatile unsigned long tried, tried_at_tick;
static char crash_path[4096];

/* splitmix64 */
static uint64_t state;

static uint64_t chance(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static size_t below(size_t n)
{
	return n ? chance() % n : 0;
}

/* Keeps the input in hand; called from signal handlers. */
static void save_input(void)
{
	static const char said[] = "# the input is in ";
	int fd = open(crash_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	size_t at = 0;
	ssize_t n = 0;

	if (fd < 0)
		return;
	while (at < now.size && (n = write(fd, now.data + at, now.size - at)) > 0)
		at += n;
	close(fd);
	if (write(1, said, sizeof(said) - 1) < 0 || write(1, crash_path, strlen(crash_path)) < 0 ||
	    write(1, "\n", 1) < 0)
		return;
}

static void on_death(int sig)
{
	save_input();
	signal(sig, SIG_DFL);
	raise(sig);
}

static void on_tick(int sig)
{
	static int ticks;

	(void)sig;
	ticks = tried == tried_at_tick && now.data ? ticks + 1 : 0;
	tried_at_tick = tried;
	if (ticks >= TOO_LONG) {
		static const char said[] = "# one input takes too long\n";

		if (write(1, said, sizeof(said) - 1) > 0)
			save_input();
		_exit(1);
	}
}

static void watch(void)
{
	static const int deadly[] = { SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL };
	struct itimerval second = { .it_interval.tv_sec = 1, .it_value.tv_sec = 1 };
	struct sigaction tick = { .sa_handler = on_tick, .sa_flags = SA_RESTART };

	/* A sanitizer has handlers of its own and calls back. */
	if (__sanitizer_set_death_callback)
		__sanitizer_set_death_callback(save_input);
	else
		for (size_t i = 0; i < sizeof(deadly) / sizeof(*deadly); i++)
			signal(deadly[i], on_death);
	sigaction(SIGALRM, &tick, NULL);
	setitimer(ITIMER_REAL, &second, NULL);
}

/* The target gets a copy of exact size, so that reading beyond it is seen. */
static void try_input(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		abort();
	memcpy(copy, data, size);
	now = (struct input){ copy, size };
	LLVMFuzzerTestOneInput(copy, size);
	now = (struct input){ 0 };
	tried++;
	free(copy);
}

static void add_file(const char *path)
{
	FILE *f = ncorpus < CORPUS_MAX ? fopen(path, "rbe") : NULL;
	struct input *in = &corpus[ncorpus];

	if (!f)
		return;
	in->size = fread(buffer, 1, sizeof(buffer), f);
	in->data = malloc(in->size ? in->size : 1);
	if (in->data) {
		memcpy(in->data, buffer, in->size);
		ncorpus++;
	}
	fclose(f);
}

static int visible(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static void add_path(const char *path)
{
	struct dirent **list;
	char name[4096];
	int n = scandir(path, &list, visible, alphasort);

	if (n < 0) {
		if (errno == ENOTDIR)
			add_file(path);
		return;
	}
	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "%s/%s", path, list[i]->d_name);
		add_file(name);
		free(list[i]);
	}
	free(list);
}

/* Changes.  Each takes and returns a size and works in buffer. */

static size_t insert(size_t size, const void *data, size_t n)
{
	size_t at = below(size + 1);

	if (size + n > INPUT_MAX)
		return size;
	memmove(buffer + at + n, buffer + at, size - at);
	memcpy(buffer + at, data, n);
	return size + n;
}

static size_t insert_token(size_t size)
{
	size_t n = 0;
	const char *token;

	if (!sp_fuzz_tokens)
		return size;
	while (sp_fuzz_tokens[n])
		n++;
	if (n == 0)
		return size;
	token = sp_fuzz_tokens[below(n)];
	return insert(size, token, strlen(token));
}

static size_t graft(size_t size)
{
	const struct input *other = &corpus[below(ncorpus)];
	size_t from, n;

	if (ncorpus == 0 || other->size == 0)
		return size;
	from = below(other->size);
	n = 1 + below(other->size - from);
	return insert(size, other->data + from, n);
}

static size_t duplicate(size_t size)
{
	uint8_t piece[256];
	size_t from = below(size), n = 1 + below(sizeof(piece));

	if (size == 0)
		return size;
	if (n > size - from)
		n = size - from;
	memcpy(piece, buffer + from, n);
	return insert(size, piece, n);
}

static size_t cut(size_t size)
{
	size_t from = below(size), n = 1 + below(size - from);

	if (size == 0)
		return size;
	memmove(buffer + from, buffer + from + n, size - from - n);
	return size - n;
}

static uint8_t some_byte(void)
{
	static const uint8_t telling[] = { 0,  1,  9,  10, 13,	32,  34,  44,	45,   46,  48,
					   57, 58, 65, 97, 124, 127, 128, 0xc3, 0xa9, 0xff };

	switch (below(3)) {
	case 0:
		return telling[below(sizeof(telling))];
	case 1:
		return 33 + below(94);
	default:
		return below(256);
	}
}

static size_t change(size_t size)
{
	uint8_t byte = some_byte();

	switch (below(8)) {
	case 0:
		return insert(size, &byte, 1);
	case 1:
		return insert_token(size);
	case 2:
		return graft(size);
	case 3:
		return duplicate(size);
	case 4:
		return cut(size);
	case 5:
		if (size)
			buffer[below(size)] ^= 1 << below(8);
		return size;
	default:
		if (size)
			buffer[below(size)] = byte;
		return size;
	}
}

static size_t make_input(void)
{
	size_t size = 0;

	if (ncorpus && below(8)) {
		const struct input *base = &corpus[below(ncorpus)];

		memcpy(buffer, base->data, base->size);
		size = base->size;
	} else {
		size = below(below(16) ? 64 : 4096);
		for (size_t i = 0; i < size; i++)
			buffer[i] = some_byte();
	}
	for (size_t n = 1 + below(8); n; n--)
		size = change(size);
	return size;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	const char *name = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
	const char *dir = getenv("SP_FUZZ_CRASH");
	double limit = 1, begin;
	unsigned long inputs = 0;
	char path[4096];
	int c;

	state = 1;
	while ((c = getopt(argc, argv, "t:n:s:")) >= 0) {
		if (c == 't')
			limit = strtod(optarg, NULL);
		else if (c == 'n')
			inputs = strtoul(optarg, NULL, 10);
		else if (c == 's' && strcmp(optarg, "random") == 0)
			state = time(NULL) * 1000003u + getpid();
		else if (c == 's')
			state = strtoul(optarg, NULL, 10);
		else
			return 2;
	}
	snprintf(crash_path, sizeof(crash_path), "%s/%s.crash", dir ? dir : "build", name);
	printf("# %s: seed %llu\n1..2\n", name, (unsigned long long)state);
	fflush(stdout);
	watch();

	for (int i = optind; i < argc; i++)
		add_path(argv[i]);
	if (optind == argc) {
		snprintf(path, sizeof(path), "tests/fuzz/corpus/%s", name);
		add_path(path);
	}
	for (size_t i = 0; i < ncorpus; i++)
		try_input(corpus[i].data, corpus[i].size);
	printf("ok 1 - %s survives its corpus\n# %zu files\n", name, ncorpus);
	fflush(stdout);

	tried = 0;
	begin = seconds();
	while (inputs ? tried < inputs : seconds() - begin < limit)
		try_input(buffer, make_input());
	printf("ok 2 - %s survives generated inputs\n# %lu inputs\n", name, tried);
	return 0;
}
