// SPDX-License-Identifier: Apache-2.0
//
// The peer `memcpy` of `weft perf`: the limit. One process on one core copies the bytes that the benchmark moves.
#include <gnu/libc-version.h>

#include "perf.h"

static void alone(void) {}
static void keep(int64_t *values, long count) { (void)values, (void)count; }

static void copy(struct work *w) {
  memcpy(w->out, w->in, w->bytes);
  // The compiler must not remove the copy as unused.
  __asm__ volatile("" : : "r"(w->out) : "memory");
}

#define COPY(name) {name, SLOWEST_RANK, fill_all, copy, check_copy, NULL}

static const struct benchmark BENCHMARKS[] = {
    COPY("allreduce"), COPY("broadcast"), COPY("allgather"), COPY("reducescatter"), COPY("alltoall"), COPY("bandwidth"),
    {NULL, SLOWEST_RANK, NULL, NULL, NULL, NULL},
};

int main(int argc, char **argv) {
  world.barrier = alone;
  world.largest = keep;
  char peer[64];
  snprintf(peer, sizeof peer, "memcpy glibc %s", gnu_get_libc_version());
  return run(argc, argv, peer, BENCHMARKS);
}
