/* SPDX-License-Identifier: MIT
 *
 * The order of loads and stores as llvm-mca keeps it: a store passes neither older loads nor older
 * stores, a load passes older loads, and older stores unless they are said to have aliases.
 */
#include <string.h>

#include "mca/mca_facts.h"

static struct order_group *group_of(struct facts_order *o, uint32_t id)
{
	return &o->groups[id % ORDER_GROUPS];
}

void order_init(struct facts_order *o, const struct llvm_cpu_info *info, bool has_aliases)
{
	/* Groups and links are filled when they are made. */
	memset(o, 0, offsetof(struct facts_order, groups));
	o->free_link = o->used_links = 0;
	o->has_aliases = has_aliases;
	o->load_queue = info->load_queue;
	o->store_queue = info->store_queue;
	o->next_id = 1;
}

bool order_has_room(const struct facts_order *o, const struct llvm_facts *facts)
{
	return !(facts->loads && o->load_queue && o->n_loads >= o->load_queue) &&
	       !(facts->stores && o->store_queue && o->n_stores >= o->store_queue);
}

/* All that are not executed have been issued. */
static bool is_running(const struct order_group *g)
{
	return g->n_started && g->n_started == g->n_insns - g->n_done;
}

/* `id` waits for group `before`: until that is executed, or only issued. */
static void add_wait(struct facts_order *o, uint32_t before, uint32_t id, bool is_data)
{
	struct order_group *first = group_of(o, before), *then = group_of(o, id);
	uint16_t link;

	if (!is_data && is_running(first))
		return;
	then->n_before++;
	if (is_running(first))
		then->n_before_started++;
	link = o->free_link;
	if (link)
		o->free_link = o->links[link - 1].next;
	else if (o->used_links < ORDER_LINKS)
		link = ++o->used_links;
	else
		return;
	o->links[link - 1] = (struct order_link){first->links, is_data, id};
	first->links = link;
}

static uint32_t new_group(struct facts_order *o)
{
	const uint32_t id = o->next_id++;

	*group_of(o, id) = (struct order_group){.id = id, .n_insns = 1};
	return id;
}

static uint32_t dispatch_store(struct facts_order *o, const struct llvm_facts *facts)
{
	const uint32_t id = new_group(o),
		       load = o->load > o->load_barrier ? o->load : o->load_barrier;

	if (load)
		add_wait(o, load, id, o->has_aliases);
	if (o->store_barrier)
		add_wait(o, o->store_barrier, id, true);
	if (o->store && o->store != o->store_barrier)
		add_wait(o, o->store, id, o->has_aliases);
	o->store = id;
	if (facts->store_barrier)
		o->store_barrier = id;
	if (facts->loads) {
		o->load = id;
		if (facts->load_barrier)
			o->load_barrier = id;
	}
	return id;
}

static uint32_t dispatch_load(struct facts_order *o, const struct llvm_facts *facts)
{
	const uint32_t before = o->load > o->load_barrier ? o->load : o->load_barrier;
	uint32_t id;

	if (!facts->load_barrier && before && o->load_barrier != before && before > o->store &&
	    !is_running(group_of(o, before))) {
		group_of(o, o->load)->n_insns++;
		return o->load;
	}
	id = new_group(o);
	if (o->has_aliases && o->store)
		add_wait(o, o->store, id, true);
	if (facts->load_barrier && before)
		add_wait(o, before, id, true);
	else if (!facts->load_barrier && o->load_barrier)
		add_wait(o, o->load_barrier, id, true);
	o->load = id;
	if (facts->load_barrier)
		o->load_barrier = id;
	return id;
}

uint32_t order_dispatch(struct facts_order *o, const struct llvm_facts *facts)
{
	o->n_loads += facts->loads;
	o->n_stores += facts->stores;
	return facts->stores ? dispatch_store(o, facts) : dispatch_load(o, facts);
}

bool order_is_ready(const struct facts_order *o, uint32_t group)
{
	const struct order_group *g = &o->groups[group % ORDER_GROUPS];

	return g->n_before_done == g->n_before;
}

/* Those that only wait for the issue go on. */
static void tell_started(struct facts_order *o, struct order_group *g)
{
	for (uint16_t link = g->links; link; link = o->links[link - 1].next) {
		struct order_group *then = group_of(o, o->links[link - 1].group);

		if (o->links[link - 1].is_data)
			then->n_before_started++;
		else
			then->n_before_done++;
	}
}

void order_start(struct facts_order *o, uint32_t group)
{
	struct order_group *g = group_of(o, group);

	g->n_started++;
	if (is_running(g))
		tell_started(o, g);
}

static void forget(struct facts_order *o, uint32_t group)
{
	uint32_t *const current[] = {&o->load, &o->load_barrier, &o->store, &o->store_barrier};

	for (size_t i = 0; i < ARRAY_SIZE(current); i++)
		if (*current[i] == group)
			*current[i] = 0;
}

void order_finish(struct facts_order *o, uint32_t group)
{
	struct order_group *g = group_of(o, group);
	uint16_t next;

	g->n_started--;
	if (++g->n_done < g->n_insns)
		return;
	for (uint16_t link = g->links; link; link = next) {
		struct order_link *l = &o->links[link - 1];
		struct order_group *then = group_of(o, l->group);

		if (l->is_data) {
			then->n_before_started--;
			then->n_before_done++;
		}
		next = l->next;
		l->next = o->free_link;
		o->free_link = link;
	}
	g->links = 0;
	forget(o, group);
}

void order_retire(struct facts_order *o, const struct llvm_facts *facts)
{
	o->n_loads -= facts->loads;
	o->n_stores -= facts->stores;
}
