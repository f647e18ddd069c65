/* SPDX-License-Identifier: MIT
 *
 * JSON for speedscope: its file format schema, type "sampled".  A sample is the stack of a frame with
 * the frame's own value as weight.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "profile/profile.h"

/* Frames of the same function share a number: `number` by frame, `first` by number. */
struct shared {
	uint32_t *number, *first; /* owned */
	size_t n;
	struct hash index;
};

static int share(const struct profile *p, struct shared *s)
{
	s->number = calloc(p->n + 1, sizeof(*s->number));
	s->first = calloc(p->n + 1, sizeof(*s->first));
	if (!s->number || !s->first)
		return -TACT_E_NOMEM;
	for (size_t i = 0; i < p->n; i++) {
		const struct profile_frame *f = &p->frames[i];
		const uint64_t hash = hash_string(f->name) ^ hash_string(f->file) * 31;
		size_t at = 0;
		uint32_t k;

		while ((k = hash_next(&s->index, hash, &at)) != HASH_NONE)
			if (!strcmp(p->frames[s->first[k]].name, f->name) &&
			    !strcmp(p->frames[s->first[k]].file, f->file))
				break;
		if (k == HASH_NONE) {
			k = (uint32_t)s->n++;
			s->first[k] = (uint32_t)i;
			if (hash_add(&s->index, hash, k))
				return -TACT_E_NOMEM;
		}
		s->number[i] = k;
	}
	return 0;
}

static void put_frames(const struct profile *p, const struct shared *s, struct json *json)
{
	json_begin_object(json, "shared");
	json_begin_array(json, "frames");
	for (size_t k = 0; k < s->n; k++) {
		const struct profile_frame *f = &p->frames[s->first[k]];

		json_begin_object(json, NULL);
		json_put_string(json, "name", f->name);
		if (*f->file)
			json_put_string(json, "file", f->file);
		json_end(json);
	}
	json_end(json);
	json_end(json);
}

static void put_stack(const struct profile *p, const struct shared *s, size_t frame, size_t *path,
		      struct json *json)
{
	size_t n = 0;

	for (size_t at = frame; at != PROFILE_ROOT; at = p->frames[at].parent)
		path[n++] = at;
	json_begin_array(json, NULL);
	while (n)
		json_put_count(json, NULL, s->number[path[--n]]);
	json_end(json);
}

static void put_profile(const struct profile *p, const struct shared *s, size_t *path,
			struct json *json)
{
	double all = 0;

	json_begin_object(json, NULL);
	json_put_string(json, "type", "sampled");
	json_put_string(json, "name", p->title);
	json_put_string(json, "unit", "none"); /* speedscope knows times and bytes */
	json_begin_array(json, "samples");
	for (size_t i = 0; i < p->n; i++)
		if (p->frames[i].value[0] > 0)
			put_stack(p, s, i, path, json);
	json_end(json);
	json_begin_array(json, "weights");
	for (size_t i = 0; i < p->n; i++) {
		if (!(p->frames[i].value[0] > 0))
			continue;
		all += p->frames[i].value[0];
		json_put_exact(json, NULL, p->frames[i].value[0]);
	}
	json_end(json);
	json_put_count(json, "startValue", 0);
	json_put_exact(json, "endValue", all);
	json_end(json);
}

void profile_speedscope(const struct profile *p, struct text *out)
{
	struct json json = {.out = out};
	struct shared shared = {0};
	size_t most = 1, *path;

	for (size_t i = 0; i < p->n; i++)
		most = p->frames[i].depth >= most ? p->frames[i].depth + (size_t)1 : most;
	path = calloc(most, sizeof(*path));
	if (!path || share(p, &shared)) {
		out->failed = true;
	} else {
		json_begin_object(&json, NULL);
		json_put_string(&json, "$schema",
				"https://www.speedscope.app/file-format-schema.json");
		json_put_string(&json, "exporter", "tact");
		json_put_string(&json, "name", p->title);
		json_put_count(&json, "activeProfileIndex", 0);
		put_frames(p, &shared, &json);
		json_begin_array(&json, "profiles");
		put_profile(p, &shared, path, &json);
		json_end_line(&json);
	}
	FREE_ALL(path, shared.number, shared.first);
	hash_free(&shared.index);
}
