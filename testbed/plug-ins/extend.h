/* What an extend plug-in and the extend library have in common: names and shapes as Ascend's driver package has them. */
#ifndef EXTEND_H
#define EXTEND_H

struct ibv_context;
struct ibv_context_extend;

/* What a plug-in registers. */
struct verbs_device_extend_ops {
	const char *name; /* of the NIC's ordinary provider */
	struct ibv_context_extend *(*alloc_context)(struct ibv_context *context);
	void (*free_context)(struct ibv_context_extend *context);
};

/* The start of what a plug-in gives for an open device; its calls are not needed here. */
struct ibv_context_extend {
	struct ibv_context *context;
	const void *ops;
};

/* What libibv_extend.so has. */
void verbs_register_driver_extend(const struct verbs_device_extend_ops *ops);
struct ibv_context_extend *ibv_open_extend(struct ibv_context *context);
int ibv_close_extend(struct ibv_context_extend *context);
const char *ibv_extend_get_version(void);

#endif
