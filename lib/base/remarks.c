/* SPDX-License-Identifier: MIT
 *
 * Lists of remarks.  They are short: a search is as good as a table.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tact/remark.h>

#include "base/base.h"

struct remark {
	char *name; /* owned; the sentence follows its NUL */
	const char *text;
};

struct tact_remarks {
	struct remark *all; /* owned */
	size_t n, capacity;
};

int tact_remarks_create(struct tact_remarks **out)
{
	if (!out)
		return -TACT_E_INVAL;
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -TACT_E_NOMEM;
}

void tact_remarks_clear(struct tact_remarks *remarks)
{
	if (!remarks)
		return;
	for (size_t i = 0; i < remarks->n; i++)
		free(remarks->all[i].name);
	remarks->n = 0;
}

void tact_remarks_destroy(struct tact_remarks *remarks)
{
	if (!remarks)
		return;
	tact_remarks_clear(remarks);
	free(remarks->all);
	free(remarks);
}

static bool is_name(const char *name)
{
	return *name && !name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-")];
}

static bool has(const struct tact_remarks *remarks, const struct remark *remark)
{
	for (size_t i = 0; i < remarks->n; i++)
		if (!strcmp(remarks->all[i].name, remark->name) &&
		    !strcmp(remarks->all[i].text, remark->text))
			return true;
	return false;
}

/* Takes the memory of the remark over. */
static int take(struct tact_remarks *remarks, struct remark remark)
{
	if (has(remarks, &remark)) {
		free(remark.name);
		return 0;
	}
	if (tact_grow(&remarks->all, &remarks->capacity, remarks->n + 1, sizeof(*remarks->all))) {
		free(remark.name);
		return -TACT_E_NOMEM;
	}
	remarks->all[remarks->n++] = remark;
	return 0;
}

int tact_remarks_add(struct tact_remarks *remarks, const char *name, const char *format, ...)
{
	struct remark remark;
	size_t name_size;
	va_list args;
	int length;

	if (!remarks || !name || !format || !is_name(name))
		return -TACT_E_INVAL;
	va_start(args, format);
	length = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (length < 0)
		return -TACT_E_INVAL;
	name_size = strlen(name) + 1;
	remark.name = malloc(name_size + (size_t)length + 1);
	if (!remark.name)
		return -TACT_E_NOMEM;
	memcpy(remark.name, name, name_size);
	va_start(args, format);
	vsnprintf(remark.name + name_size, (size_t)length + 1, format, args);
	va_end(args);
	remark.text = remark.name + name_size;
	return take(remarks, remark);
}

int tact_remarks_append(struct tact_remarks *remarks, const struct tact_remarks *from)
{
	int status = remarks ? 0 : -TACT_E_INVAL;

	for (size_t i = 0; from && i < from->n && status >= 0; i++)
		status = tact_remarks_add(remarks, from->all[i].name, "%s", from->all[i].text);
	return status;
}

size_t tact_remarks_count(const struct tact_remarks *remarks)
{
	return remarks ? remarks->n : 0;
}

const char *tact_remarks_name(const struct tact_remarks *remarks, size_t i)
{
	return remarks && i < remarks->n ? remarks->all[i].name : "";
}

const char *tact_remarks_text(const struct tact_remarks *remarks, size_t i)
{
	return remarks && i < remarks->n ? remarks->all[i].text : "";
}
