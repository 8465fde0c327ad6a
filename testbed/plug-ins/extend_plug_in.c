/*
 * An extend plug-in like those of NIC driver packages: it registers when it is loaded, with a function that only
 * libibv_extend.so has. NAME is the provider that it belongs to.
 */
#include <stddef.h>

#include "extend.h"

#ifndef NAME
#define NAME "xscale"
#endif

/* One is enough: nothing here opens a device twice. */
static struct ibv_context_extend only;

static struct ibv_context_extend *alloc_context(struct ibv_context *context)
{
	if (only.context != NULL)
		return NULL;
	only.context = context;
	return &only;
}

static void free_context(struct ibv_context_extend *context)
{
	context->context = NULL;
}

static const struct verbs_device_extend_ops ops = { NAME, alloc_context, free_context };

__attribute__((constructor)) static void announce(void)
{
	verbs_register_driver_extend(&ops);
}
