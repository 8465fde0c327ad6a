/* OpenSHMEM by the work: `oshrun -n 2 openshmem SECONDS WORK...`. Without arguments it starts, meets the others and ends. */
#include <shmem.h>

#include "measure.h"

static unsigned char *src, *dst;
static uint64_t *word, *agreed;
static long *sync_room;

static void end_job(int code) { shmem_global_exit(code); exit(code); }

static uint64_t agree(uint64_t value) {
    shmem_barrier_all();
    if (me == 0)
        for (int pe = 0; pe < n_pes; pe++) shmem_uint64_p(agreed, value, pe);
    shmem_barrier_all();
    return *agreed;
}

/* Two in turn, so that no PE still waits in the one that another has begun again. */
static void fcollect(void *to, const void *from, size_t bytes, uint64_t round) {
    long *sync = sync_room + (round % 2) * SHMEM_COLLECT_SYNC_SIZE;
    if (bytes % 8 == 0) shmem_fcollect64(to, from, bytes / 8, 0, 0, n_pes, sync);
    else shmem_fcollect32(to, from, bytes / 4, 0, 0, n_pes, sync);
}

static double put(const struct work *work, uint64_t rounds, int bursts) {
    size_t bytes = work->bytes;
    double took = 0;
    /* As in our `perf`, one that is not counted warms the caches, by other bytes than those that are looked for. */
    if (me == 0) {
        write_pattern(src, bytes, 1);
        shmem_putmem_nbi(dst, src, bytes, 1);
        shmem_quiet();
        write_pattern(src, bytes, 0);
    }
    if (me == 0 && bursts) {
        for (uint64_t left = rounds; left > 0;) {
            uint64_t burst = left < BURST ? left : BURST;
            double start = now();
            for (uint64_t i = 0; i < burst; i++) shmem_putmem_nbi(dst, src, bytes, 1);
            took += now() - start;
            shmem_quiet();
            left -= burst;
        }
    } else if (me == 0) {
        double start = now();
        for (uint64_t i = 0; i < rounds; i++) {
            shmem_putmem_nbi(dst, src, bytes, 1);
            shmem_quiet();
        }
        took = now() - start;
    }
    shmem_barrier_all();
    if (me == 1) check_pattern(dst, bytes, 0, work->name);
    return took;
}

static double get(const struct work *work, uint64_t rounds) {
    if (me == 0) {
        shmem_getmem(dst, src, work->bytes, 1);
        memset(dst, 0, work->bytes);
    }
    double start = now();
    if (me == 0)
        for (uint64_t i = 0; i < rounds; i++) shmem_getmem(dst, src, work->bytes, 1);
    double took = now() - start;
    shmem_barrier_all();
    if (me == 0) check_pattern(dst, work->bytes, 1, work->name);
    return took;
}

static void wait_for(uint64_t *at, uint64_t value, int spin) {
    if (!spin) shmem_uint64_wait_until(at, SHMEM_CMP_EQ, value);
    else while (__atomic_load_n(at, __ATOMIC_ACQUIRE) != value) relax();
}

/* The last 8 bytes count the rounds. */
static double ping_pong(const struct work *work, uint64_t rounds, int spin) {
    size_t rest = work->bytes - 8;
    uint64_t *to = (uint64_t *)(dst + rest), *from = (uint64_t *)(src + rest);
    double start = now();
    for (uint64_t round = 1; round <= rounds && me < 2; round++) {
        if (me == 1) wait_for(to, round, spin);
        *from = round;
        shmem_putmem(dst, src, work->bytes, 1 - me);
        if (me == 0) wait_for(to, round, spin);
    }
    double took = now() - start;
    shmem_barrier_all();
    if (me < 2) {
        check_pattern(dst, rest, 1 - me, work->name);
        check_word(*to, rounds, work->name);
    }
    return took;
}

/* OpenSHMEM 1.4 has no put with signal: this is what stands for it. */
static double signal_ping_pong(const struct work *work, uint64_t rounds) {
    double start = now();
    for (uint64_t round = 1; round <= rounds && me < 2; round++) {
        if (me == 1) wait_for(word, round, 0);
        shmem_putmem_nbi(dst, src, work->bytes, 1 - me);
        shmem_fence();
        shmem_uint64_p(word, round, 1 - me);
        if (me == 0) wait_for(word, round, 0);
    }
    double took = now() - start;
    shmem_barrier_all();
    if (me < 2) check_pattern(dst, work->bytes, 1 - me, work->name);
    return took;
}

/* The last one is seen to complete a put. */
static double barrier(const struct work *work, uint64_t rounds) {
    double start = now();
    for (uint64_t i = 0; i < rounds; i++) shmem_barrier_all();
    double took = now() - start;
    shmem_uint64_p(word, rounds, (me + 1) % n_pes);
    shmem_barrier_all();
    check_word(*word, rounds, work->name);
    return took;
}

static double all_gather(const struct work *work, uint64_t rounds) {
    write_pattern(src, work->bytes, me + 1);
    fcollect(dst, src, work->bytes, 0);
    write_pattern(src, work->bytes, me);
    double start = now();
    for (uint64_t i = 1; i <= rounds; i++) fcollect(dst, src, work->bytes, i);
    double took = now() - start;
    shmem_barrier_all();
    for (int pe = 0; pe < n_pes; pe++) check_pattern(dst + (size_t)pe * work->bytes, work->bytes, pe, work->name);
    return took;
}

/* Our reference job by hand. What fcollect reads and what it writes must not overlap, so a part is the copy's target. */
static double job(const struct work *work, uint64_t rounds) {
    size_t each = work->bytes / 4, all = each * (size_t)n_pes;
    int32_t *part = (int32_t *)src, *other = part + each, *ptr = (int32_t *)dst, *b_ptr = ptr + all;
    int32_t *step = calloc(all, 4), *temp = calloc(all, 4), *sum = calloc(all, 4);
    if (!step || !temp || !sum) end_job(1);
    for (size_t i = 0; i < each; i++)
        step[(size_t)me * each + i] = part[i] = other[i] = ptr[(size_t)me * each + i] = first_value(me);
    shmem_barrier_all();
    double start = now();
    for (uint64_t i = 0; i < rounds; i++) {
        add(temp, ptr, step, all);
        memcpy(part, temp + (size_t)me * each, each * 4);
        fcollect(ptr, part, each * 4, 2 * i);
        fcollect(b_ptr, other, each * 4, 2 * i + 1);
        add(sum, ptr, b_ptr, all);
    }
    double took = now() - start;
    shmem_barrier_all();
    check_sum(sum, each, rounds);
    free(step), free(temp), free(sum);
    return took;
}

static double perform(const struct work *work, uint64_t rounds) {
    const char *name = work->name;
    shmem_barrier_all();
    write_pattern(src, work->bytes, me);
    memset(dst, 0, work->bytes * (size_t)(strcmp(name, "all-gather") && strcmp(name, "job") ? 1 : 2 * n_pes));
    *word = 0;
    shmem_barrier_all();
    if (!strcmp(name, "put-quiet")) return put(work, rounds, 0);
    if (!strcmp(name, "put")) return put(work, rounds, 1);
    if (!strcmp(name, "get")) return get(work, rounds);
    if (!strcmp(name, "ping-pong")) return ping_pong(work, rounds, 0);
    if (!strcmp(name, "ping-pong-spin")) return ping_pong(work, rounds, 1);
    if (!strcmp(name, "signal-ping-pong")) return signal_ping_pong(work, rounds);
    if (!strcmp(name, "barrier")) return barrier(work, rounds);
    if (!strcmp(name, "all-gather")) return all_gather(work, rounds);
    if (!strcmp(name, "job")) return job(work, rounds);
    return -1;
}

int main(int argc, char **argv) {
    shmem_init();
    me = shmem_my_pe();
    n_pes = shmem_n_pes();
    if (argc < 3) {
        shmem_barrier_all();
        shmem_finalize();
        return 0;
    }
    double seconds = parse_seconds(argv[1]);
    size_t bytes = room(argc - 2, argv + 2);
    src = shmem_align(4096, bytes);
    dst = shmem_align(4096, 2 * bytes);
    word = shmem_align(128, 128);
    agreed = shmem_align(128, 128);
    sync_room = shmem_align(128, 2 * SHMEM_COLLECT_SYNC_SIZE * sizeof *sync_room);
    if (!src || !dst || !word || !agreed || !sync_room) {
        fprintf(stderr, "PE %d: no room for 3 times %zu bytes; raise SHMEM_SYMMETRIC_SIZE\n", me, bytes);
        end_job(1);
    }
    for (int i = 0; i < 2 * SHMEM_COLLECT_SYNC_SIZE; i++) sync_room[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    for (int i = 2; i < argc; i++) {
        struct work work = parse_work(argv[i]);
        measure(&work, seconds);
    }
    shmem_finalize();
    return 0;
}
