/* SPDX-License-Identifier: MIT */
/*
 * Defines the stubs of jansson.  A report that is made without the library is NULL.
 */
#include <jansson.h>
#include <stdarg.h>
#include "stubs/stubs.h"

#define LIST(S, S_FREE, S_OPTIONAL)                                                                \
	S_OPTIONAL(json_t *, json_object, (void), ())                                              \
	S_OPTIONAL(json_t *, json_array, (void), ())                                               \
	S_OPTIONAL(json_t *, json_string, (const char *value), (value))                            \
	S_OPTIONAL(json_t *, json_string_nocheck, (const char *value), (value))                    \
	S_OPTIONAL(json_t *, json_integer, (json_int_t value), (value))                            \
	S_OPTIONAL(json_t *, json_real, (double value), (value))                                   \
	S_OPTIONAL(json_t *, json_true, (void), ())                                                \
	S_OPTIONAL(json_t *, json_false, (void), ())                                               \
	S_OPTIONAL(json_t *, json_null, (void), ())                                                \
	S_OPTIONAL(json_t *, json_object_get, (const json_t *object, const char *key),             \
		   (object, key))                                                                  \
	S_OPTIONAL(int, json_object_set_new, (json_t * object, const char *key, json_t *value),    \
		   (object, key, value))                                                           \
	S_OPTIONAL(int, json_array_append_new, (json_t * array, json_t * value), (array, value))   \
	S_OPTIONAL(json_t *, json_vpack_ex,                                                        \
		   (json_error_t * error, size_t flags, const char *format, va_list list),         \
		   (error, flags, format, list))                                                   \
	S(void, json_delete, (json_t * json), (json))                                              \
	S(void *, json_object_iter, (json_t * object), (object))                                   \
	S(void *, json_object_key_to_iter, (const char *key), (key))                               \
	S(void *, json_object_iter_next, (json_t * object, void *iter), (object, iter))            \
	S(const char *, json_object_iter_key, (void *iter), (iter))                                \
	S(json_t *, json_object_iter_value, (void *iter), (iter))                                  \
	S(size_t, json_array_size, (const json_t *array), (array))                                 \
	S(json_t *, json_array_get, (const json_t *array, size_t index), (array, index))           \
	S(int, json_array_set_new, (json_t * array, size_t index, json_t * value),                 \
	  (array, index, value))                                                                   \
	S(const char *, json_string_value, (const json_t *string), (string))                       \
	S(json_int_t, json_integer_value, (const json_t *integer), (integer))                      \
	S(double, json_real_value, (const json_t *real), (real))                                   \
	S(double, json_number_value, (const json_t *number), (number))                             \
	S(json_t *, json_deep_copy, (const json_t *value), (value))                                \
	S(json_t *, json_loadb,                                                                    \
	  (const char *buffer, size_t bytes, size_t flags, json_error_t *error),                   \
	  (buffer, bytes, flags, error))                                                           \
	S(json_t *, json_loadf, (FILE * input, size_t flags, json_error_t * error),                \
	  (input, flags, error))                                                                   \
	S(int, json_dump_callback,                                                                 \
	  (const json_t *json, json_dump_callback_t callback, void *data, size_t flags),           \
	  (json, callback, data, flags))

SP__STUBS(jansson, "libjansson4 (Debian) or jansson (Fedora)", LIST);

json_t *json_pack(const char *format, ...)
{
	json_t *value;
	va_list list;

	va_start(list, format);
	value = json_vpack_ex(NULL, 0, format, list);
	va_end(list);
	return value;
}
