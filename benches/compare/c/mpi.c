/* MPI by the work: `mpirun -n 2 mpi SECONDS WORK...`. Without arguments it starts, meets the others and ends. */
#include <mpi.h>

#include "measure.h"

static unsigned char *src, *dst;
static MPI_Win window;

static void end_job(int code) { MPI_Abort(MPI_COMM_WORLD, code); exit(code); }

static uint64_t agree(uint64_t value) {
    MPI_Bcast(&value, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    return value;
}

/* One-sided, as a put of OpenSHMEM is; the source is plain memory, which MPI allows. */
static double put(const struct work *work, uint64_t rounds, int bursts) {
    int bytes = (int)work->bytes;
    double took = 0;
    /* As in our `perf`, one that is not counted warms the caches, by other bytes than those that are looked for. */
    if (me == 0) {
        write_pattern(src, work->bytes, 1);
        MPI_Put(src, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, window);
        MPI_Win_flush(1, window);
        write_pattern(src, work->bytes, 0);
    }
    if (me == 0 && bursts) {
        for (uint64_t left = rounds; left > 0;) {
            uint64_t burst = left < BURST ? left : BURST;
            double start = now();
            for (uint64_t i = 0; i < burst; i++) MPI_Put(src, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, window);
            took += now() - start;
            MPI_Win_flush(1, window);
            left -= burst;
        }
    } else if (me == 0) {
        double start = now();
        for (uint64_t i = 0; i < rounds; i++) {
            MPI_Put(src, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, window);
            MPI_Win_flush(1, window);
        }
        took = now() - start;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(window);
    if (me == 1) check_pattern(dst, work->bytes, 0, work->name);
    return took;
}

/* From the window of PE 1, which holds its pattern, to plain memory here. */
static double get(const struct work *work, uint64_t rounds) {
    int bytes = (int)work->bytes;
    write_pattern(dst, work->bytes, me);
    memset(src, 0, work->bytes);
    MPI_Win_sync(window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) {
        MPI_Get(src, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, window);
        MPI_Win_flush(1, window);
        memset(src, 0, work->bytes);
    }
    double start = now();
    if (me == 0)
        for (uint64_t i = 0; i < rounds; i++) {
            MPI_Get(src, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, window);
            MPI_Win_flush(1, window);
        }
    double took = now() - start;
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) check_pattern(src, work->bytes, 1, work->name);
    return took;
}

/* Two-sided. The last 8 bytes count the rounds. */
static double ping_pong(const struct work *work, uint64_t rounds) {
    int bytes = (int)work->bytes, partner = 1 - me;
    uint64_t *to = (uint64_t *)(dst + work->bytes - 8), *from = (uint64_t *)(src + work->bytes - 8);
    double start = now();
    for (uint64_t round = 1; round <= rounds && me < 2; round++) {
        if (me == 1) MPI_Recv(dst, bytes, MPI_BYTE, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        *from = round;
        MPI_Send(src, bytes, MPI_BYTE, partner, 0, MPI_COMM_WORLD);
        if (me == 0) MPI_Recv(dst, bytes, MPI_BYTE, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    double took = now() - start;
    MPI_Barrier(MPI_COMM_WORLD);
    if (me < 2) {
        check_pattern(dst, work->bytes - 8, partner, work->name);
        check_word(*to, rounds, work->name);
    }
    return took;
}

/* The last one is seen to come after a put to the right-hand neighbour was complete. */
static double barrier(const struct work *work, uint64_t rounds) {
    double start = now();
    for (uint64_t i = 0; i < rounds; i++) MPI_Barrier(MPI_COMM_WORLD);
    double took = now() - start;
    int right = (me + 1) % n_pes;
    MPI_Put(&rounds, 8, MPI_BYTE, right, 0, 8, MPI_BYTE, window);
    MPI_Win_flush(right, window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(window);
    check_word(*(volatile uint64_t *)dst, rounds, work->name);
    return took;
}

static void gather(void *all, size_t bytes) {
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, (int)bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static double all_gather(const struct work *work, uint64_t rounds) {
    unsigned char *mine = dst + (size_t)me * work->bytes;
    write_pattern(mine, work->bytes, me + 1);
    MPI_Barrier(MPI_COMM_WORLD);
    gather(dst, work->bytes);
    write_pattern(mine, work->bytes, me);
    double start = now();
    for (uint64_t i = 0; i < rounds; i++) gather(dst, work->bytes);
    double took = now() - start;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int pe = 0; pe < n_pes; pe++) check_pattern(dst + (size_t)pe * work->bytes, work->bytes, pe, work->name);
    return took;
}

/* Our reference job by hand. */
static double job(const struct work *work, uint64_t rounds) {
    size_t each = work->bytes / 4, all = each * (size_t)n_pes, own = each * (size_t)me;
    int32_t *ptr = (int32_t *)dst, *b_ptr = ptr + all;
    int32_t *step = calloc(all, 4), *temp = calloc(all, 4), *sum = calloc(all, 4);
    if (!step || !temp || !sum) end_job(1);
    for (size_t i = own; i < own + each; i++) step[i] = ptr[i] = b_ptr[i] = first_value(me);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = now();
    for (uint64_t i = 0; i < rounds; i++) {
        add(temp, ptr, step, all);
        memcpy(ptr, temp, all * 4);
        gather(ptr, each * 4);
        gather(b_ptr, each * 4);
        add(sum, ptr, b_ptr, all);
    }
    double took = now() - start;
    MPI_Barrier(MPI_COMM_WORLD);
    check_sum(sum, each, rounds);
    free(step), free(temp), free(sum);
    return took;
}

static double perform(const struct work *work, uint64_t rounds) {
    const char *name = work->name;
    MPI_Barrier(MPI_COMM_WORLD);
    write_pattern(src, work->bytes, me);
    memset(dst, 0, work->bytes * (size_t)(strcmp(name, "all-gather") && strcmp(name, "job") ? 1 : 2 * n_pes));
    MPI_Win_sync(window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(name, "put-quiet")) return put(work, rounds, 0);
    if (!strcmp(name, "put")) return put(work, rounds, 1);
    if (!strcmp(name, "get")) return get(work, rounds);
    if (!strcmp(name, "ping-pong") || !strcmp(name, "signal-ping-pong")) return ping_pong(work, rounds);
    if (!strcmp(name, "barrier")) return barrier(work, rounds);
    if (!strcmp(name, "all-gather")) return all_gather(work, rounds);
    if (!strcmp(name, "job")) return job(work, rounds);
    return -1;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n_pes);
    if (argc < 3) {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Finalize();
        return 0;
    }
    double seconds = parse_seconds(argv[1]);
    size_t bytes = room(argc - 2, argv + 2);
    src = aligned_alloc(4096, bytes);
    if (!src) {
        fprintf(stderr, "PE %d: no room for %zu bytes\n", me, bytes);
        end_job(1);
    }
    MPI_Win_allocate((MPI_Aint)(2 * bytes), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &dst, &window);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    for (int i = 2; i < argc; i++) {
        struct work work = parse_work(argv[i]);
        measure(&work, seconds);
    }
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    free(src);
    MPI_Finalize();
    return 0;
}
