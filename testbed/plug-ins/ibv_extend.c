/*
 * A libibv_extend.so for tests: it has the functions that plug-ins and programs look for, and keeps who registered.
 */
#include <stddef.h>

#include "extend.h"

enum { MOST = 8 };

static const struct verbs_device_extend_ops *registered[MOST];
static struct ibv_context_extend *opened[MOST];
static size_t count;

void verbs_register_driver_extend(const struct verbs_device_extend_ops *ops)
{
	if (ops != NULL && count < MOST)
		registered[count++] = ops;
}

/* Which plug-in a device belongs to only its ordinary provider could tell; here the first that takes it has it. */
struct ibv_context_extend *ibv_open_extend(struct ibv_context *context)
{
	for (size_t i = 0; i < count; i++) {
		if (opened[i] == NULL)
			opened[i] = registered[i]->alloc_context(context);
		if (opened[i] != NULL && opened[i]->context == context)
			return opened[i];
	}
	return NULL;
}

int ibv_close_extend(struct ibv_context_extend *context)
{
	for (size_t i = 0; context != NULL && i < count; i++) {
		if (opened[i] != context)
			continue;
		registered[i]->free_context(context);
		opened[i] = NULL;
		return 0;
	}
	return -1;
}

const char *ibv_extend_get_version(void)
{
	return "4.2.0";
}
