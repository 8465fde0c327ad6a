/* What the programs for both peers share: works as `name:bytes`, the bytes that are sent and looked at, the number of
 * rounds, and the line that is printed. Each program defines what stands under "of the peer". */
#ifndef MEASURE_H
#define MEASURE_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Calls between two completions where the call alone is timed, as in our `perf`. */
enum { BURST = 64 };
/* The exit code that means wrong data. */
enum { WRONG_DATA = 3, BAD_ARGUMENT = 2 };

struct work {
    char name[32];
    size_t bytes;
};

/* Of the peer: ends the whole job. */
static void end_job(int code);
static int me, n_pes;
/* Of the peer: does the work and looks at the data. Seconds that the rounds took here; less than 0 if there is no such
 * work. */
static double perform(const struct work *work, uint64_t rounds);
/* Of the peer: gives the rounds of PE 0 to all. */
static uint64_t agree(uint64_t rounds);

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* A turn of a loop that waits. */
static inline void relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Byte `at` of what `pe` sends; never 0, which is what destinations hold before. */
static unsigned char byte_of(int pe, size_t at) {
    return (unsigned char)(1 + ((size_t)pe * 89 + at * 7 + at / 4096) % 251);
}

static void write_pattern(unsigned char *to, size_t bytes, int pe) {
    for (size_t i = 0; i < bytes; i++) to[i] = byte_of(pe, i);
}

static void wrong(const char *work, size_t at, size_t bytes, unsigned found, unsigned expected) {
    fprintf(stderr, "PE %d: %s moved wrong data: byte %zu of %zu is %u, expected %u\n", me, work, at, bytes, found,
            expected);
    end_job(WRONG_DATA);
}

static void check_pattern(const unsigned char *found, size_t bytes, int pe, const char *work) {
    for (size_t i = 0; i < bytes; i++)
        if (found[i] != byte_of(pe, i)) wrong(work, i, bytes, found[i], byte_of(pe, i));
}

static void check_word(uint64_t found, uint64_t expected, const char *work) {
    if (found != expected) {
        fprintf(stderr, "PE %d: %s moved wrong data: a word is %llu, expected %llu\n", me, work,
                (unsigned long long)found, (unsigned long long)expected);
        end_job(WRONG_DATA);
    }
}

/* The reference job of our `replay`: add, copy, AllGather, AllGather, add. What PE `pe` begins with. */
static int32_t first_value(int pe) { return pe + 10; }

static void check_sum(const int32_t *sum, size_t each, uint64_t rounds) {
    for (size_t i = 0; i < each * (size_t)n_pes; i++) {
        uint32_t expected = (uint32_t)first_value((int)(i / each)) * ((uint32_t)rounds + 2);
        if ((uint32_t)sum[i] != expected) wrong("job", i * 4, each * 4 * (size_t)n_pes, (uint32_t)sum[i], expected);
    }
}

static void add(int32_t *to, const int32_t *a, const int32_t *b, size_t count) {
    for (size_t i = 0; i < count; i++) to[i] = (int32_t)((uint32_t)a[i] + (uint32_t)b[i]);
}

/* Finds out how many rounds take about `seconds`, which also warms up, and then measures so many. PE 0 decides for all. */
static void measure(const struct work *work, double seconds) {
    uint64_t rounds = 1;
    double took;
    for (;;) {
        rounds = agree(rounds);
        took = perform(work, rounds);
        if (took < 0) {
            if (me == 0) fprintf(stderr, "no work is called %s\n", work->name);
            end_job(BAD_ARGUMENT);
        }
        double fit = seconds / ((took > 1e-9 ? took : 1e-9) / (double)rounds);
        uint64_t next = fit < 1 ? 1 : fit > 1e12 ? (uint64_t)1e12 : (uint64_t)fit;
        /* A quarter of the time says enough; short runs say little of long ones. */
        if (agree(took >= seconds / 4)) {
            rounds = agree(next);
            break;
        }
        next /= 2;
        if (next < rounds * 2) next = rounds * 2;
        if (next > rounds * 32) next = rounds * 32;
        rounds = next;
    }
    took = perform(work, rounds);
    if (me != 0) return;
    double each = took * 1e6 / (double)rounds;
    if (strstr(work->name, "ping-pong")) each /= 2;
    printf("{\"work\":\"%s\",\"bytes\":%zu,\"pes\":%d,\"value\":%.6f,\"unit\":\"us\",\"rounds\":%llu}\n", work->name,
           work->bytes, n_pes, each, (unsigned long long)rounds);
    fflush(stdout);
}

static struct work parse_work(const char *text) {
    struct work work = {{0}, 0};
    const char *colon = strchr(text, ':');
    size_t len = colon ? (size_t)(colon - text) : strlen(text);
    char *end = NULL;
    errno = 0;
    if (colon) work.bytes = strtoull(colon + 1, &end, 10);
    if (len == 0 || len >= sizeof work.name || errno || (colon && (end == colon + 1 || *end))) {
        fprintf(stderr, "%s is no work; give name or name:bytes\n", text);
        end_job(BAD_ARGUMENT);
    }
    memcpy(work.name, text, len);
    return work;
}

/* The bytes that the works need for one of two buffers, which begin on pages. */
static size_t room(int count, char **works) {
    size_t most = 4096;
    for (int i = 0; i < count; i++) {
        size_t bytes = parse_work(works[i]).bytes * (size_t)n_pes;
        if (bytes > most) most = bytes;
    }
    return (most + 4095) / 4096 * 4096;
}

static double parse_seconds(const char *text) {
    char *end = NULL;
    double seconds = strtod(text, &end);
    if (end == text || *end || !(seconds > 0) || seconds > 3600) {
        fprintf(stderr, "%s is no number of seconds\n", text);
        end_job(BAD_ARGUMENT);
    }
    return seconds;
}

#endif
