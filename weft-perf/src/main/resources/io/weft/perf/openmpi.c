// SPDX-License-Identifier: Apache-2.0
//
// The peer `openmpi` of `weft perf`: Open MPI, measured like Weft's own rank programs (see perf.h).
#include <mpi.h>
#ifndef OMPI_MAJOR_VERSION
#error "this compiler wrapper is not Open MPI's"
#endif
#include "perf.h"

static void meet(void) { MPI_Barrier(MPI_COMM_WORLD); }
static void largest(int64_t *values, long count) {
  MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
}

static void allreduce(struct work *w) { MPI_Allreduce(w->in, w->out, w->elements, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); }
// Reduces the tensors of a step separately, in their order.
static void allreduces(struct work *w) {
  for (long k = 0; k < w->tensors; k++) allreduce(w);
}
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

static void pingpong(struct work *w) {
  if (world.rank == 0) {
    MPI_Send(w->in, w->elements, MPI_FLOAT, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(w->out, w->elements, MPI_FLOAT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(w->out, w->elements, MPI_FLOAT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(w->out, w->elements, MPI_FLOAT, 0, 0, MPI_COMM_WORLD);
  }
}

// Rank 1 confirms the arrival by one byte.
static void bandwidth(struct work *w) {
  char word = 0;
  if (world.rank == 0) {
    MPI_Send(w->in, w->elements, MPI_FLOAT, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(&word, 1, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(w->out, w->elements, MPI_FLOAT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&word, 1, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
  }
}

// Both ranks keep a receive posted for every message that may be in flight.
static int messages(struct work *w, long iterations, int64_t *times) {
  long window = w->outstanding, total = iterations * w->batch, sent = 0;
  char *out = (char *)tensor(window * w->bytes), *in = (char *)tensor(window * w->bytes);
  MPI_Request *sends = malloc(window * sizeof *sends), *receives = malloc(window * sizeof *receives);
  int good = 1, peer = 1 - world.rank;
  uint64_t mark = world.rank == 0 ? 0 : ANSWER, expected = world.rank == 0 ? ANSWER : 0;
  for (long k = 0; k < window; k++) {
    sends[k] = MPI_REQUEST_NULL;
    if (k < total) MPI_Irecv(in + k * w->bytes, w->bytes, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &receives[k]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  int64_t begin = nanos();
  for (long received = 0; received < total; received++) {
    long ahead = world.rank == 0 ? received + window : received;
    for (; sent < ahead && sent < total; sent++) {
      long k = sent % window;
      MPI_Wait(&sends[k], MPI_STATUS_IGNORE);
      number(out + k * w->bytes, w->bytes, sent, mark);
      MPI_Isend(out + k * w->bytes, w->bytes, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &sends[k]);
    }
    long k = received % window;
    MPI_Wait(&receives[k], MPI_STATUS_IGNORE);
    good &= numbered(in + k * w->bytes, w->bytes, received, expected);
    if (received + window < total)
      MPI_Irecv(in + k * w->bytes, w->bytes, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &receives[k]);
    if ((received + 1) % w->batch == 0) {
      int64_t now = nanos();
      times[received / w->batch] = now - begin;
      begin = now;
    }
  }
  for (; sent < total; sent++) {  // rank 1's last answer
    long k = sent % window;
    MPI_Wait(&sends[k], MPI_STATUS_IGNORE);
    number(out + k * w->bytes, w->bytes, sent, mark);
    MPI_Isend(out + k * w->bytes, w->bytes, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &sends[k]);
  }
  MPI_Waitall(window, sends, MPI_STATUSES_IGNORE);
  free(out), free(in), free(sends), free(receives);
  return good;
}

static const struct benchmark BENCHMARKS[] = {
    {"allreduce", SLOWEST_RANK, fill_all, allreduce, check_sum, NULL},
    {"allreduces", SLOWEST_RANK, fill_all, allreduces, check_sum, NULL},
    {"broadcast", SLOWEST_RANK, fill_at_root, broadcast, check_root, NULL},
    {"allgather", SLOWEST_RANK, fill_share, allgather, check_shares, NULL},
    {"reducescatter", SLOWEST_RANK, fill_all, reducescatter, check_sum_of_share, NULL},
    {"alltoall", SLOWEST_RANK, fill_all, alltoall, check_exchanged, NULL},
    {"barrier", MEETING, fill_nothing, barrier, check_nothing, NULL},
    {"pingpong", HALF_OF_RANK_ZERO, fill_at_root, pingpong, check_copy_at_root, NULL},
    {"bandwidth", RANK_ZERO, fill_at_root, bandwidth, check_copy_at_one, NULL},
    {"messages", RANK_ZERO, NULL, NULL, NULL, messages},
    {NULL, SLOWEST_RANK, NULL, NULL, NULL, NULL},
};

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  world.barrier = meet;
  world.largest = largest;
  MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world.ranks);
  char peer[64];
  snprintf(peer, sizeof peer, "openmpi %d.%d.%d", OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION);
  int code = run(argc, argv, peer, BENCHMARKS);
  if (code) MPI_Abort(MPI_COMM_WORLD, code);
  MPI_Finalize();
  return 0;
}
