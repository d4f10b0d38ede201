// SPDX-License-Identifier: Apache-2.0
//
// The common part of all peers of `weft perf`: the data, the order of steps, and the lines of output, as in Weft's own
// rank programs (io.weft.perf.rank, .link). C11 and C++17.
//
//   PROGRAM BENCHMARK[:SETTING...] WARM_UP_MILLIS BYTES:ITERATIONS...
//
// One iteration t:  rewrite the input - untimed barrier - timed call - compare the whole result.
// Rank r's element i is (r+1) * tile[(i+t) mod 1024] with tile[k] = k+1. Sums are exact in float32 up to 180 ranks. A
// result left from iteration t-1 differs in every element.
//
// Rank 0 prints:  peer NAME VERSION
//                 times BYTES checked|wrong NANOS NANOS ...      (one per case, nanoseconds of each iteration in order)
//                 done
#ifndef WEFT_PERF_H
#define WEFT_PERF_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static const long PERIOD = 1024;
enum { SHORTEST_WARM_UP = 3, WARM_UP_BATCH = 16 };

// The first pass over all sizes lasts at least this multiple of one warm-up, as Weft's does while its JVM compiles,
// because a machine may run short work faster than long work.
enum { FIRST_WARM_UP_TIMES = 30 };

// The number of turns in which each size is timed, as in Weft's ranks, if contestants take turns.
enum { PARTS = 5 };

// This rank, and the functions of the peer's library for all programs. `largest` replaces each value by the maximum over
// all ranks. `tensor` and `give_back` are set if tensors lie in the peer's memory; the last tensor is freed first.
struct world {
  int rank, ranks;
  void (*barrier)(void);
  void (*largest)(int64_t *values, long count);
  float *(*tensor)(long bytes);
  void (*give_back)(float *tensor);
};

static struct world world = {0, 1, NULL, NULL, NULL, NULL};

static inline void die(const char *what) {
  perror(what);
  exit(1);
}

// ---- turns -----------------------------------------------------------------------------------------------------------

// The socket over which this rank takes turns, or -1 without turns. See the package io.weft.perf.turns.
static int seat = -1;

static void await_turn(void) {
  char word;
  ssize_t n;
  do n = read(seat, &word, 1);
  while (n < 0 && errno == EINTR);
  if (n != 1) fprintf(stderr, "rank %d: weft perf ended before its ranks\n", world.rank), exit(1);
}

// Ends this contestant's turn and waits for its next one.
static void pass_on(void) {
  char word = 1;
  if (seat < 0) return;
  if (write(seat, &word, 1) != 1) die("pass the turn on");
  await_turn();
}

static void take_seat(void) {
  const char *path = getenv("WEFT_PERF_TURNS");
  if (!path) return;
  struct sockaddr_un there;
  memset(&there, 0, sizeof there);
  there.sun_family = AF_UNIX;
  if (strlen(path) >= sizeof there.sun_path) errno = ENAMETOOLONG, die("WEFT_PERF_TURNS");
  strcpy(there.sun_path, path);
  unsigned char ranks = world.ranks > 1 ? world.ranks : 1;
  seat = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (seat < 0 || connect(seat, (struct sockaddr *)&there, sizeof there) || write(seat, &ranks, 1) != 1)
    die("take a seat at WEFT_PERF_TURNS");
  await_turn();
}

// ---- data ------------------------------------------------------------------------------------------------------------

// tiles[s] holds two periods of s * tile, so that a run of up to one period from any phase is contiguous.
static float **tiles;

static int sum_of_scales(void) { return world.ranks * (world.ranks + 1) / 2; }

static const float *tile(int scale) {
  if (!tiles) tiles = (float **)calloc(sum_of_scales() + 1, sizeof *tiles);
  if (!tiles[scale]) {
    float *t = (float *)malloc(2 * PERIOD * sizeof *t);
    for (int k = 0; k < 2 * PERIOD; k++) t[k] = (float)scale * (float)(k % PERIOD + 1);
    tiles[scale] = t;
  }
  return tiles[scale];
}

static void fill(float *data, long elements, int scale, long phase) {
  const float *from = tile(scale) + phase % PERIOD;
  for (long i = 0; i < elements; i += PERIOD) {
    long run = elements - i < PERIOD ? elements - i : PERIOD;
    memcpy(data + i, from, run * sizeof *data);
  }
}

static int same(const float *data, long elements, int scale, long phase) {
  const float *expected = tile(scale) + phase % PERIOD;
  for (long i = 0; i < elements; i += PERIOD) {
    long run = elements - i < PERIOD ? elements - i : PERIOD;
    if (memcmp(data + i, expected, run * sizeof *data)) return 0;
  }
  return 1;
}

static float *tensor(long bytes) {
  void *memory = NULL;
  if (posix_memalign(&memory, 4096, bytes > 0 ? bytes : 4)) {
    fprintf(stderr, "rank %d cannot allocate %ld bytes\n", world.rank, bytes);
    exit(1);
  }
  memset(memory, 0, bytes);
  return (float *)memory;
}

// ---- benchmarks ------------------------------------------------------------------------------------------------------

// `elements` counts the larger of input and output; `share` is elements / ranks. `outstanding` and `batch` are those of
// `messages`, `tensors` that of `allreduces`.
struct work {
  long bytes, elements, share, outstanding, batch, tensors;
  float *in, *out;
};

// The definition of an iteration's time, and whether a barrier precedes the iteration.
enum timing {
  SLOWEST_RANK,      // the slowest rank's time, after a barrier
  MEETING,           // as SLOWEST_RANK, for a barrier, which is checked by the clock that all ranks read
  RANK_ZERO,         // rank 0's time until it is notified of the arrival, after a barrier
  HALF_OF_RANK_ZERO  // half of rank 0's time, without a barrier
};

struct benchmark {
  const char *name;
  enum timing timing;
  void (*fill)(struct work *, long t);
  void (*call)(struct work *);
  int (*check)(struct work *, long t);
  // Used instead of the other three: runs `iterations` of a continuous stream. Returns whether all data was right.
  int (*stream)(struct work *, long iterations, int64_t *times);
};

static inline void fill_all(struct work *w, long t) { fill(w->in, w->elements, world.rank + 1, t); }
static inline void fill_share(struct work *w, long t) { fill(w->in, w->share, world.rank + 1, t); }
static inline void fill_at_root(struct work *w, long t) {
  if (world.rank == 0) fill(w->in, w->elements, 1, t);
}
static inline void fill_nothing(struct work *w, long t) { (void)w, (void)t; }

static inline int check_sum(struct work *w, long t) { return same(w->out, w->elements, sum_of_scales(), t); }
static inline int check_root(struct work *w, long t) { return same(w->in, w->elements, 1, t); }
static inline int check_copy(struct work *w, long t) { return same(w->out, w->elements, 1, t); }
static inline int check_copy_at_root(struct work *w, long t) { return world.rank != 0 || check_copy(w, t); }
static inline int check_copy_at_one(struct work *w, long t) { return world.rank != 1 || check_copy(w, t); }
static inline int check_shares(struct work *w, long t) {
  int good = 1;
  for (int r = 0; r < world.ranks; r++) good &= same(w->out + r * w->share, w->share, r + 1, t);
  return good;
}
static inline int check_sum_of_share(struct work *w, long t) {
  return same(w->out, w->share, sum_of_scales(), world.rank * w->share + t);
}
static inline int check_exchanged(struct work *w, long t) {
  int good = 1;
  for (int r = 0; r < world.ranks; r++) good &= same(w->out + r * w->share, w->share, r + 1, world.rank * w->share + t);
  return good;
}
static inline int check_nothing(struct work *w, long t) { return (void)w, (void)t, 1; }

// A message contains its number at both ends. The number at the end is inverted, and marked in an answer.
static const uint64_t ANSWER = UINT64_C(0x5bd1e9959e3779b9);

static inline void number(char *message, long bytes, uint64_t n, uint64_t mark) {
  uint64_t last = ~n ^ mark;
  memcpy(message, &n, sizeof n);
  memcpy(message + bytes - sizeof last, &last, sizeof last);
}

static inline int numbered(const char *message, long bytes, uint64_t n, uint64_t mark) {
  uint64_t first, last;
  memcpy(&first, message, sizeof first);
  memcpy(&last, message + bytes - sizeof last, sizeof last);
  return first == n && last == (~n ^ mark);
}

// The attribute of a loop that is compiled for the widest vectors of this processor.
#if defined(__x86_64__) && defined(__gnu_linux__)
#define WIDE __attribute__((target_clones("avx512f", "avx2", "default"), optimize("O3")))
#else
#define WIDE __attribute__((optimize("O3")))
#endif

// ---- measuring -------------------------------------------------------------------------------------------------------

static int64_t nanos(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

// Runs one iteration. Sets the times at which this rank entered and left the timed call. Returns whether the result is
// right.
static int iterate(const struct benchmark *b, struct work *w, long t, int64_t *entered, int64_t *left) {
  b->fill(w, t);
  if (b->timing != HALF_OF_RANK_ZERO) world.barrier();
  *entered = nanos();
  b->call(w);
  *left = nanos();
  return b->check(w, t);
}

// Runs until the slowest rank has worked for `nanos_wanted`, at least three times, equally often on all ranks.
static void warm_up(const struct benchmark *b, struct work *w, int64_t nanos_wanted) {
  int64_t begin = nanos(), entered, left, times[WARM_UP_BATCH];
  long t = 0;
  for (int64_t elapsed = 0; t < SHORTEST_WARM_UP || elapsed < nanos_wanted;) {
    long batch = t < SHORTEST_WARM_UP ? SHORTEST_WARM_UP : w->elements > 262144 ? 1 : WARM_UP_BATCH;
    if (b->stream) {
      b->stream(w, batch, times);
      t += batch;
    } else {
      for (long last = t + batch; t < last; t++) iterate(b, w, t, &entered, &left);
    }
    elapsed = nanos() - begin;
    world.largest(&elapsed, 1);
  }
}

static void report(long bytes, int good, const int64_t *times, long iterations) {
  if (world.rank) return;
  printf("times %ld %s", bytes, good ? "checked" : "wrong");
  for (long t = 0; t < iterations; t++) printf(" %lld", (long long)times[t]);
  printf("\n");
  fflush(stdout);
}

static void measure(const struct benchmark *b, struct work *w, long iterations, int64_t warm_up_nanos) {
  int64_t *times = (int64_t *)calloc(iterations, sizeof *times);
  int64_t *entered = (int64_t *)calloc(iterations, sizeof *entered);
  int64_t *left = (int64_t *)calloc(iterations, sizeof *left);
  int64_t bad = 0;
  long parts = seat < 0 || b->stream ? 1 : iterations < PARTS ? iterations : PARTS, part = 1;
  if (b->stream) bad |= !b->stream(w, iterations, times);
  for (long t = 0; !b->stream && t < iterations; t++) {
    if (t == iterations * part / parts) {
      part++;
      pass_on();
      warm_up(b, w, warm_up_nanos / PARTS);
    }
    int right = iterate(b, w, t, &entered[t], &left[t]);
    if (!right && !bad)
      fprintf(stderr, "rank %d: %s of %ld bytes is wrong in iteration %ld\n", world.rank, b->name, w->bytes, t);
    bad |= !right;
    times[t] = left[t] - entered[t];
    if (b->timing == HALF_OF_RANK_ZERO) times[t] /= 2;
  }
  if (!b->stream && (b->timing == SLOWEST_RANK || b->timing == MEETING)) world.largest(times, iterations);
  if (b->timing == MEETING) {  // No rank may leave before all ranks have entered.
    world.largest(entered, iterations);
    for (long t = 0; t < iterations; t++) bad |= entered[t] > left[t];
  }
  world.largest(&bad, 1);
  report(w->bytes, !bad, times, iterations);
  free(times), free(entered), free(left);
}

static void run_case(const struct benchmark *b, const char *text, int64_t warm_up_nanos, struct work w, int measured) {
  long iterations = 0;
  if (sscanf(text, "%ld:%ld", &w.bytes, &iterations) != 2) {
    fprintf(stderr, "case '%s' is not BYTES:ITERATIONS\n", text);
    exit(2);
  }
  if (measured) pass_on();
  w.elements = w.bytes / (long)sizeof(float);
  w.share = w.elements / world.ranks;
  w.in = world.tensor ? world.tensor(w.bytes) : tensor(w.bytes);
  w.out = world.tensor ? world.tensor(w.bytes) : tensor(w.bytes);
  warm_up(b, &w, warm_up_nanos);
  if (measured) measure(b, &w, iterations, warm_up_nanos);
  if (world.give_back) world.give_back(w.out), world.give_back(w.in);
  else free(w.out), free(w.in);
}

// Runs a rank's program after `world` has been set. `table` ends with a benchmark without a name.
static int run(int argc, char **argv, const char *peer, const struct benchmark *table) {
  const struct benchmark *chosen = NULL;
  size_t length = argc > 3 ? strcspn(argv[1], ":") : 0;
  for (const struct benchmark *b = table; length && b->name; b++)
    if (strlen(b->name) == length && !strncmp(argv[1], b->name, length)) chosen = b;
  if (!chosen) {
    fprintf(stderr, "usage: BENCHMARK[:SETTING...] WARM_UP_MILLIS BYTES:ITERATIONS..., with one of");
    for (const struct benchmark *b = table; b->name; b++) fprintf(stderr, " %s", b->name);
    fprintf(stderr, "\n");
    return 2;
  }
  struct work w;
  memset(&w, 0, sizeof w);
  if (chosen->stream && sscanf(argv[1] + length, ":%ld:%ld", &w.outstanding, &w.batch) != 2) {
    fprintf(stderr, "usage: %s:OUTSTANDING:BATCH\n", chosen->name);
    return 2;
  }
  if (!strcmp(chosen->name, "allreduces") && (sscanf(argv[1] + length, ":%ld", &w.tensors) != 1 || w.tensors < 1)) {
    fprintf(stderr, "usage: %s:TENSORS\n", chosen->name);
    return 2;
  }
  if (world.rank == 0) printf("peer %s\n", peer);
  take_seat();
  int64_t warm_up_nanos = atol(argv[2]) * INT64_C(1000000);
  int64_t share_nanos = FIRST_WARM_UP_TIMES * warm_up_nanos / (argc - 3);
  int64_t first_nanos = share_nanos > warm_up_nanos ? share_nanos : warm_up_nanos;
  for (int i = 3; i < argc; i++) run_case(chosen, argv[i], first_nanos, w, 0);
  for (int i = 3; i < argc; i++) run_case(chosen, argv[i], warm_up_nanos, w, 1);
  if (world.rank == 0) printf("done\n"), fflush(stdout);
  return 0;
}

#endif
