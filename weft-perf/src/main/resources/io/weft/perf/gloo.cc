// SPDX-License-Identifier: Apache-2.0
//
// The peer `gloo` of `weft perf`: Gloo with its default algorithms over TCP on loopback, measured like Weft's own rank
// programs (see perf.h). The first argument is the number of ranks. The processes end with the first of them.
#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/config.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "perf.h"

static std::shared_ptr<gloo::rendezvous::Context> context;

// ---- world -----------------------------------------------------------------------------------------------------------

static void meet() {
  gloo::BarrierOptions options(context);
  gloo::barrier(options);
}

static void largest(int64_t *values, long count) {
  gloo::AllreduceOptions options(context);
  options.setOutput(values, count);
  options.setReduceFunction([](void *c, const void *a, const void *b, size_t n) { gloo::max<int64_t>(c, a, b, n); });
  gloo::allreduce(options);
}

// ---- benchmarks ------------------------------------------------------------------------------------------------------

static void allreduce(struct work *w) {
  gloo::AllreduceOptions options(context);
  options.setInput(w->in, w->elements);
  options.setOutput(w->out, w->elements);
  options.setReduceFunction([](void *c, const void *a, const void *b, size_t n) { gloo::sum<float>(c, a, b, n); });
  gloo::allreduce(options);
}

static void broadcast(struct work *w) {
  gloo::BroadcastOptions options(context);
  options.setOutput(w->in, w->elements);
  options.setRoot(0);
  gloo::broadcast(options);
}

static void allgather(struct work *w) {
  gloo::AllgatherOptions options(context);
  options.setInput(w->in, w->share);
  options.setOutput(w->out, w->elements);
  gloo::allgather(options);
}

static void alltoall(struct work *w) {
  gloo::AlltoallOptions options(context);
  options.setInput(w->in, w->elements);
  options.setOutput(w->out, w->elements);
  gloo::alltoall(options);
}

static void barrier(struct work *w) {
  (void)w;
  meet();
}

static const struct benchmark BENCHMARKS[] = {
    {"allreduce", SLOWEST_RANK, fill_all, allreduce, check_sum, NULL},
    {"broadcast", SLOWEST_RANK, fill_at_root, broadcast, check_root, NULL},
    {"allgather", SLOWEST_RANK, fill_share, allgather, check_shares, NULL},
    {"alltoall", SLOWEST_RANK, fill_all, alltoall, check_exchanged, NULL},
    {"barrier", MEETING, fill_nothing, barrier, check_nothing, NULL},
    {NULL, SLOWEST_RANK, NULL, NULL, NULL, NULL},
};

// ---- processes -------------------------------------------------------------------------------------------------------

static int run_rank(int argc, char **argv, const std::string &directory) {
  world.barrier = meet;
  world.largest = largest;
  gloo::transport::tcp::attr attr("127.0.0.1");
  auto device = gloo::transport::tcp::CreateDevice(attr);
  context = std::make_shared<gloo::rendezvous::Context>(world.rank, world.ranks);
  gloo::rendezvous::FileStore store(directory);
  context->connectFullMesh(store, device);
  meet();
  // All ranks have read the files, which are removed now so that none remains after a failure.
  if (world.rank == 0) std::filesystem::remove_all(directory);
  std::string peer = "gloo " + std::to_string(GLOO_VERSION_MAJOR) + "." + std::to_string(GLOO_VERSION_MINOR) + "." +
                     std::to_string(GLOO_VERSION_PATCH);
  int code = run(argc, argv, peer.c_str(), BENCHMARKS);
  meet();
  return code;
}

int main(int argc, char **argv) {
  world.ranks = argc > 1 ? atoi(argv[1]) : 0;
  if (world.ranks < 1) {
    fprintf(stderr, "usage: RANKS BENCHMARK WARM_UP_MILLIS BYTES:ITERATIONS...\n");
    return 2;
  }
  char directory[] = "/tmp/weft-gloo-XXXXXX";
  if (!mkdtemp(directory)) die("mkdtemp");
  pid_t parent = getpid();
  for (int r = 1; r < world.ranks && world.rank == 0; r++) {
    pid_t child = fork();
    if (child < 0) die("fork");
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent) return 1;
      world.rank = r;
    }
  }
  int code = 1;
  try {
    code = run_rank(argc - 1, argv + 1, directory);
  } catch (const std::exception &failed) {
    fprintf(stderr, "rank %d: %s\n", world.rank, failed.what());
  }
  if (world.rank == 0) {
    std::filesystem::remove_all(directory);
    for (int status; wait(&status) > 0;) code = status && !code ? 1 : code;
  }
  return code;
}
