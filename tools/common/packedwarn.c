/* SPDX-License-Identifier: MIT */
/*
 * Warns about files that look compressed.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <spindle/packed.h>
#include "msg.h"
#include "packedwarn.h"

/* Reads the beginning of a regular file.  Returns the number of bytes; -1: it cannot be read. */
static ssize_t beginning(const char *name, char magic[SP_PACKED_MAGIC_BYTES])
{
	bool standard = !strcmp(name, "-");
	struct stat st;
	ssize_t n = -1;
	off_t at;
	int fd;

	if ((standard ? fstat(STDIN_FILENO, &st) : stat(name, &st)) || !S_ISREG(st.st_mode))
		return 0;
	fd = standard ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);
	at = fd < 0 ? -1 : lseek(fd, 0, SEEK_CUR);
	if (at >= 0)
		n = pread(fd, magic, SP_PACKED_MAGIC_BYTES, at);
	if (!standard && fd >= 0)
		close(fd);
	return n;
}

bool packedwarn_possible(const char *name)
{
	char magic[SP_PACKED_MAGIC_BYTES];
	bool standard = !strcmp(name, "-");
	struct stat st;
	ssize_t bytes;

	if (standard ? fstat(STDIN_FILENO, &st) : stat(name, &st))
		return false;
	if (!S_ISREG(st.st_mode))
		return true;
	bytes = beginning(name, magic);
	return bytes < 0 || sp_packed_by_magic(magic, (size_t)bytes) != SP_PACKED_NONE;
}

bool packedwarn_input(const char *name, const char *option)
{
	char magic[SP_PACKED_MAGIC_BYTES];
	ssize_t n = beginning(name, magic);
	size_t bytes = n > 0 ? (size_t)n : 0;
	enum sp_packed format = sp_packed_by_magic(magic, bytes);
	const char *foreign = sp_packed_foreign(magic, bytes);

	if (format != SP_PACKED_NONE && option)
		msg("warning: %s: is read as bytes, although it is in the format %s: %s "
		    "decompresses it",
		    quote_file(name), sp_packed_name(format), option);
	else if (format != SP_PACKED_NONE || foreign)
		msg("warning: %s: is read as bytes, although it is in the format %s: decompress it "
		    "first",
		    quote_file(name), foreign ? foreign : sp_packed_name(format));
	return format != SP_PACKED_NONE || foreign;
}

void packedwarn_output(const char *name, const char *remedy)
{
	if (name && sp_packed_by_suffix(name) != SP_PACKED_NONE)
		msg("warning: %s: is written uncompressed: %s", quote_file(name), remedy);
}
