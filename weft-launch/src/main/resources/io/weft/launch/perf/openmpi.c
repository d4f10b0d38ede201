// SPDX-License-Identifier: Apache-2.0
//
// The peer `openmpi` of `weft perf`: one collective of Open MPI, measured as Weft's own rank program measures its own
// (io.weft.launch.perf.rank): the same data, the same order of steps, the same lines of output.
//
//   openmpi BENCHMARK WARM_UP_MILLIS BYTES:ITERATIONS...
//
// One iteration t:  rewrite the input - untimed barrier - timed call - compare the whole result.
// Rank r's element i is (r+1) * tile[(i+t) mod 1024] with tile[k] = k+1: sums are exact in float32 up to 180 ranks, and a
// result left over from iteration t-1 is wrong everywhere. An iteration takes as long as its slowest rank.
//
// Rank 0 prints:  peer openmpi VERSION
//                 times BYTES checked|wrong NANOS NANOS ...      (one per case, nanoseconds of each iteration in order)
//                 done
#include <mpi.h>
#ifndef OMPI_MAJOR_VERSION
#error "this compiler wrapper is not Open MPI's"
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PERIOD = 1024 };
enum { SHORTEST_WARM_UP = 3, WARM_UP_BATCH = 16 };

static int rank, ranks;

// ---- data ------------------------------------------------------------------------------------------------------------

// tiles[s] holds two periods of s * tile, so that a run of up to one period from any phase is contiguous.
static float **tiles;

static const float *tile(int scale) {
  if (!tiles[scale]) {
    float *t = malloc(2 * PERIOD * sizeof *t);
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
    fprintf(stderr, "rank %d cannot allocate %ld bytes\n", rank, bytes);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  memset(memory, 0, bytes);
  return memory;
}

// ---- benchmarks ------------------------------------------------------------------------------------------------------

// `elements` counts the larger of input and output; `share` is elements / ranks.
struct work {
  long elements, share;
  float *in, *out;
};

static int sum_of_scales(void) { return ranks * (ranks + 1) / 2; }

static void fill_all(struct work *w, long t) { fill(w->in, w->elements, rank + 1, t); }
static void fill_share(struct work *w, long t) { fill(w->in, w->share, rank + 1, t); }
static void fill_at_root(struct work *w, long t) {
  if (rank == 0) fill(w->in, w->elements, 1, t);
}
static void fill_nothing(struct work *w, long t) { (void)w, (void)t; }

static void allreduce(struct work *w) { MPI_Allreduce(w->in, w->out, w->elements, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); }
static void broadcast(struct work *w) { MPI_Bcast(w->in, w->elements, MPI_FLOAT, 0, MPI_COMM_WORLD); }
static void allgather(struct work *w) {
  MPI_Allgather(w->in, w->share, MPI_FLOAT, w->out, w->share, MPI_FLOAT, MPI_COMM_WORLD);
}
static void reducescatter(struct work *w) {
  MPI_Reduce_scatter_block(w->in, w->out, w->share, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}
static void alltoall(struct work *w) {
  MPI_Alltoall(w->in, w->share, MPI_FLOAT, w->out, w->share, MPI_FLOAT, MPI_COMM_WORLD);
}
static void barrier(struct work *w) { (void)w, MPI_Barrier(MPI_COMM_WORLD); }

static int check_sum(struct work *w, long t) { return same(w->out, w->elements, sum_of_scales(), t); }
static int check_root(struct work *w, long t) { return same(w->in, w->elements, 1, t); }
static int check_shares(struct work *w, long t) {
  int good = 1;
  for (int r = 0; r < ranks; r++) good &= same(w->out + r * w->share, w->share, r + 1, t);
  return good;
}
static int check_sum_of_share(struct work *w, long t) {
  return same(w->out, w->share, sum_of_scales(), rank * w->share + t);
}
static int check_exchanged(struct work *w, long t) {
  int good = 1;
  for (int r = 0; r < ranks; r++) good &= same(w->out + r * w->share, w->share, r + 1, rank * w->share + t);
  return good;
}
static int check_nothing(struct work *w, long t) { return (void)w, (void)t, 1; }

static const struct benchmark {
  const char *name;
  void (*fill)(struct work *, long);
  void (*call)(struct work *);
  int (*check)(struct work *, long);
} BENCHMARKS[] = {
    {"allreduce", fill_all, allreduce, check_sum},
    {"broadcast", fill_at_root, broadcast, check_root},
    {"allgather", fill_share, allgather, check_shares},
    {"reducescatter", fill_all, reducescatter, check_sum_of_share},
    {"alltoall", fill_all, alltoall, check_exchanged},
    {"barrier", fill_nothing, barrier, check_nothing},
};

// ---- measuring -------------------------------------------------------------------------------------------------------

static int64_t nanos(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

// One iteration; gives when this rank entered and left the timed call. Returns whether the result is right.
static int iterate(const struct benchmark *b, struct work *w, long t, int64_t *entered, int64_t *left) {
  b->fill(w, t);
  MPI_Barrier(MPI_COMM_WORLD);
  *entered = nanos();
  b->call(w);
  *left = nanos();
  return b->check(w, t);
}

// Runs until the slowest rank has worked for `nanos_wanted`, and at least three times. All ranks do the same number.
static void warm_up(const struct benchmark *b, struct work *w, int64_t nanos_wanted) {
  int64_t begin = nanos(), entered, left;
  long t = 0;
  for (int64_t elapsed = 0; t < SHORTEST_WARM_UP || elapsed < nanos_wanted;) {
    long batch = t < SHORTEST_WARM_UP ? SHORTEST_WARM_UP : w->elements > 262144 ? 1 : WARM_UP_BATCH;
    for (long last = t + batch; t < last; t++) iterate(b, w, t, &entered, &left);
    elapsed = nanos() - begin;
    MPI_Allreduce(MPI_IN_PLACE, &elapsed, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  }
}

static void measure(const struct benchmark *b, struct work *w, long bytes, long iterations) {
  int64_t *times = malloc(iterations * sizeof *times);
  int64_t *entered = malloc(iterations * sizeof *entered), *left = malloc(iterations * sizeof *left);
  int good = 1;
  for (long t = 0; t < iterations; t++) {
    int right = iterate(b, w, t, &entered[t], &left[t]);
    if (!right && good) fprintf(stderr, "rank %d: %s of %ld bytes is wrong in iteration %ld\n", rank, b->name, bytes, t);
    good &= right;
    times[t] = left[t] - entered[t];
  }
  MPI_Allreduce(MPI_IN_PLACE, times, iterations, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  if (b->call == barrier) {  // Nobody may leave before everybody has entered; the ranks share one monotonic clock.
    MPI_Allreduce(MPI_IN_PLACE, entered, iterations, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    for (long t = 0; t < iterations; t++) good &= entered[t] <= left[t];
  }
  MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("times %ld %s", bytes, good ? "checked" : "wrong");
    for (long t = 0; t < iterations; t++) printf(" %lld", (long long)times[t]);
    printf("\n");
    fflush(stdout);
  }
  free(times), free(entered), free(left);
}

static void run_case(const struct benchmark *b, const char *text, int64_t warm_up_nanos, int measured) {
  long bytes = 0, iterations = 0;
  if (sscanf(text, "%ld:%ld", &bytes, &iterations) != 2) {
    fprintf(stderr, "case '%s' is not BYTES:ITERATIONS\n", text);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  long elements = bytes / (long)sizeof(float);
  struct work w = {elements, elements / ranks, tensor(bytes), tensor(bytes)};
  warm_up(b, &w, warm_up_nanos);
  if (measured) measure(b, &w, bytes, iterations);
  free(w.in), free(w.out);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  tiles = calloc(sum_of_scales() + 1, sizeof *tiles);
  const struct benchmark *chosen = NULL;
  for (size_t i = 0; argc > 3 && i < sizeof BENCHMARKS / sizeof *BENCHMARKS; i++)
    if (!strcmp(argv[1], BENCHMARKS[i].name)) chosen = &BENCHMARKS[i];
  if (!chosen) {
    fprintf(stderr, "usage: BENCHMARK WARM_UP_MILLIS BYTES:ITERATIONS...\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  if (rank == 0) printf("peer openmpi %d.%d.%d\n", OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION);
  int64_t warm_up_nanos = atol(argv[2]) * INT64_C(1000000);
  for (int i = 3; i < argc; i++) run_case(chosen, argv[i], warm_up_nanos, 0);
  for (int i = 3; i < argc; i++) run_case(chosen, argv[i], warm_up_nanos, 1);
  if (rank == 0) printf("done\n"), fflush(stdout);
  MPI_Finalize();
  return 0;
}
