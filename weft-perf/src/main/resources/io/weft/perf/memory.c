// SPDX-License-Identifier: Apache-2.0
//
// The peer `c` of `weft perf` over shared memory: the speed of plain C processes that share memory from the start and
// make no decisions. The other ranks are children of the first and end with it.
//
//   own      The tensors lie in shared memory. Rank r adds slice r of all inputs and stores the sum to all outputs. Two
//            ranks with at most ALONE bytes each add the whole tensor.
//   private  Each of two ranks copies half of its tensor into shared memory in pieces, and half of the result out of it.
//            Its peer adds its own half to each piece there.
//
// Up to SLOT bytes each rank copies its whole tensor into a slot and adds all slots. A waiting rank polls SPINS times,
// then yields. With more ranks than cores it yields at once, because other ranks need the core.
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "perf.h"

enum { MOST_RANKS = 16, SLOT = 4 << 10, SPINS = 2000, VALUES = 1 << 20 };

// Pieces of private tensors have PIECE bytes, which fit a cache. A rank fetches a piece after putting in DEPTH more.
enum { PIECE = 64 << 10, DEPTH = 2, PIECES = DEPTH + 1 };

// Above this size, sums of own tensors of two ranks are stored past the caches.
static const long PAST_CACHES = 4 << 20;

// Up to this size, reading all lines is faster than storing to lines in the other rank's first-level cache.
static const long ALONE = 64 << 10;

// The address space of a rank's tensors. The kernel allocates memory on first use.
static const long ARENA = 8L << 30;

// The shared state of one rank, with each counter on a separate cache line.
struct desk {
  _Alignas(128) atomic_long met;      // barriers entered
  _Alignas(128) atomic_long shown;    // small tensors put into a slot
  _Alignas(128) atomic_long entered;  // allreduces begun
  _Alignas(128) atomic_long left;     // allreduces completed
  _Alignas(128) atomic_long put;      // pieces put in
  _Alignas(128) atomic_long added;    // pieces of the peer added
  _Alignas(128) char slots[2][SLOT];
  _Alignas(128) char pieces[PIECES][PIECE];
  int64_t values[VALUES];
};

static struct desk *desks;
static char *arenas;
static long arena_used;
static int is_private, spins;
static volatile sig_atomic_t ending;

static void until(atomic_long *counter, long wanted) {
  for (int spin = 0; atomic_load_explicit(counter, memory_order_acquire) < wanted; spin++) {
    if (spin >= spins) sched_yield();
#ifdef __SSE2__
    else _mm_pause();
#endif
  }
}

static void tell(atomic_long *counter, long value) { atomic_store_explicit(counter, value, memory_order_release); }

static struct desk *own(void) { return &desks[world.rank]; }

// ---- world -----------------------------------------------------------------------------------------------------------

static void meet(void) {
  static long times;
  tell(&own()->met, ++times);
  for (int r = 0; r < world.ranks; r++) until(&desks[r].met, times);
}

static void largest(int64_t *values, long count) {
  if (count > VALUES) fprintf(stderr, "%ld iterations are more than %d\n", count, VALUES), exit(2);
  memcpy(own()->values, values, count * sizeof *values);
  meet();
  for (int r = 0; r < world.ranks; r++)
    for (long i = 0; i < count; i++)
      if (desks[r].values[i] > values[i]) values[i] = desks[r].values[i];
  meet();
}

// All ranks allocate equal lengths in equal order, so that a tensor lies at the same offset in each arena.
static float *common_tensor(long bytes) {
  long room = (bytes + 4095) / 4096 * 4096;
  if (arena_used + room > ARENA) fprintf(stderr, "rank %d has no room for %ld bytes\n", world.rank, bytes), exit(1);
  char *at = arenas + world.rank * ARENA + arena_used;
  arena_used += room;
  memset(at, 0, bytes);
  return (float *)at;
}

static void give_back(float *tensor) {
  char *at = (char *)tensor;
  long begin = at - (arenas + world.rank * ARENA);
  if (madvise(at, arena_used - begin, MADV_REMOVE)) die("madvise");
  arena_used = begin;
}

static float *of_rank(float *tensor, int rank) {
  return (float *)((char *)tensor + (rank - world.rank) * ARENA);
}

// ---- sums ------------------------------------------------------------------------------------------------------------

// Stores a + b twice.
WIDE static void add(const float *a, const float *b, float *sum, float *twin, long elements) {
#pragma GCC ivdep
  for (long i = 0; i < elements; i++) {
    float s = a[i] + b[i];
    sum[i] = s;
    twin[i] = s;
  }
}

static void add_past_caches(const float *a, const float *b, float *sum, float *twin, long elements) {
  long i = 0;
#ifdef __SSE2__
  for (; i < elements && (uintptr_t)(sum + i) % 64; i++) sum[i] = twin[i] = a[i] + b[i];
  for (; i + 16 <= elements; i += 16) {
    __m128 s0 = _mm_add_ps(_mm_loadu_ps(a + i), _mm_loadu_ps(b + i));
    __m128 s1 = _mm_add_ps(_mm_loadu_ps(a + i + 4), _mm_loadu_ps(b + i + 4));
    __m128 s2 = _mm_add_ps(_mm_loadu_ps(a + i + 8), _mm_loadu_ps(b + i + 8));
    __m128 s3 = _mm_add_ps(_mm_loadu_ps(a + i + 12), _mm_loadu_ps(b + i + 12));
    _mm_stream_ps(sum + i, s0), _mm_stream_ps(sum + i + 4, s1);
    _mm_stream_ps(sum + i + 8, s2), _mm_stream_ps(sum + i + 12, s3);
    _mm_stream_ps(twin + i, s0), _mm_stream_ps(twin + i + 4, s1);
    _mm_stream_ps(twin + i + 8, s2), _mm_stream_ps(twin + i + 12, s3);
  }
  _mm_sfence();
#endif
  add(a + i, b + i, sum + i, twin + i, elements - i);
}

WIDE static void add_once(const float *a, const float *b, float *sum, long elements) {
#pragma GCC ivdep
  for (long i = 0; i < elements; i++) sum[i] = a[i] + b[i];
}

WIDE static void add_to(float *restrict sum, const float *restrict data, long elements) {
  for (long i = 0; i < elements; i++) sum[i] += data[i];
}

// ---- allreduce -------------------------------------------------------------------------------------------------------

// Uses two slots in turn. Before a rank overwrites a slot, it has seen all ranks publish the other slot, after which
// they no longer read this one.
static void by_slots(struct work *w) {
  static long times;
  int turn = ++times & 1;
  memcpy(own()->slots[turn], w->in, w->bytes);
  tell(&own()->shown, times);
  until(&desks[0].shown, times);
  memcpy(w->out, desks[0].slots[turn], w->bytes);
  for (int r = 1; r < world.ranks; r++) {
    until(&desks[r].shown, times);
    add_to(w->out, (float *)desks[r].slots[turn], w->elements);
  }
}

static void in_place(struct work *w) {
  static long times;
  times++;
  // Slices begin on cache lines.
  long share = (w->elements / world.ranks + 15) / 16 * 16, begin = world.rank * share;
  long count = world.rank == world.ranks - 1 ? w->elements - begin : share;
  float *in = w->in + begin, *out = w->out + begin;
  tell(&own()->entered, times);
  for (int r = 0; r < world.ranks; r++) until(&desks[r].entered, times);
  if (world.ranks == 2 && w->bytes <= ALONE) {
    add_once(of_rank(w->in, 0), of_rank(w->in, 1), w->out, w->elements);
  } else if (world.ranks == 2) {
    int other = 1 - world.rank;
    (w->bytes > PAST_CACHES ? add_past_caches : add)(in, of_rank(in, other), out, of_rank(out, other), count);
  } else {
    for (long at = 0; at < count; at += PERIOD) {
      long run = count - at < PERIOD ? count - at : PERIOD;
      memcpy(out + at, of_rank(in + at, 0), run * sizeof *out);
      for (int r = 1; r < world.ranks; r++) add_to(out + at, of_rank(in + at, r), run);
      for (int r = 0; r < world.ranks; r++)
        if (r != world.rank) memcpy(of_rank(out + at, r), out + at, run * sizeof *out);
    }
  }
  tell(&own()->left, times);
  for (int r = 0; r < world.ranks; r++) until(&desks[r].left, times);
}

static long piece_of(long elements, long piece) {
  long begin = piece * (long)(PIECE / sizeof(float)), rest = elements - begin;
  return rest < (long)(PIECE / sizeof(float)) ? (rest > 0 ? rest : 0) : (long)(PIECE / sizeof(float));
}

// Rank r adds half r. A piece lies in the memory of the rank that put it in. This rank fetches the sum from there.
static void by_pieces(struct work *w) {
  static long before;
  struct desk *mine = own(), *peers = &desks[1 - world.rank];
  long half = (w->elements / 2 + 15) / 16 * 16, rest = w->elements - half, step = PIECE / sizeof(float);
  long added = world.rank == 0 ? half : rest, fetched = w->elements - added;
  const float *in_added = w->in + (world.rank == 0 ? 0 : half), *in_put = w->in + (world.rank == 0 ? half : 0);
  float *out_added = w->out + (world.rank == 0 ? 0 : half), *out_fetched = w->out + (world.rank == 0 ? half : 0);
  long pieces = (half + step - 1) / step;
  for (long k = 0; k < pieces + DEPTH; k++) {
    if (k < pieces) {
      memcpy(mine->pieces[(before + k) % PIECES], in_put + k * step, piece_of(fetched, k) * sizeof(float));
      tell(&mine->put, before + k + 1);
    }
    if (k >= 1 && k <= pieces) {
      long at = k - 1;
      float *piece = (float *)peers->pieces[(before + at) % PIECES];
      until(&peers->put, before + k);
      add(in_added + at * step, piece, out_added + at * step, piece, piece_of(added, at));
      tell(&mine->added, before + k);
    }
    if (k >= DEPTH) {
      long at = k - DEPTH;
      until(&peers->added, before + at + 1);
      memcpy(out_fetched + at * step, mine->pieces[(before + at) % PIECES], piece_of(fetched, at) * sizeof(float));
    }
  }
  before += pieces;
}

static void allreduce(struct work *w) {
  if (w->bytes <= SLOT) by_slots(w);
  else if (is_private) by_pieces(w);
  else in_place(w);
}

static const struct benchmark BENCHMARKS[] = {
    {"allreduce", SLOWEST_RANK, fill_all, allreduce, check_sum, NULL},
    {NULL, SLOWEST_RANK, NULL, NULL, NULL, NULL},
};

// ---- processes -------------------------------------------------------------------------------------------------------

static void *common(long bytes) {
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) die("mmap");
  madvise(memory, bytes, MADV_HUGEPAGE);
  return memory;
}

static void child_gone(int signal) {
  (void)signal;
  if (!ending) _exit(1);
}

static void start_ranks(void) {
  pid_t parent = getpid();
  signal(SIGCHLD, child_gone);
  for (int r = 1; r < world.ranks; r++) {
    pid_t child = fork();
    if (child < 0) die("fork");
    if (child == 0) {
      signal(SIGCHLD, SIG_DFL);
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent) exit(1);
      world.rank = r;
      return;
    }
  }
}

// RANKS BENCHMARK:own|private ...
int main(int argc, char **argv) {
  world.ranks = argc > 2 ? atoi(argv[1]) : 0;
  is_private = argc > 2 && strstr(argv[2], ":private") != NULL;
  if (world.ranks < 1 || world.ranks > MOST_RANKS || (is_private && world.ranks != 2)) {
    fprintf(stderr, "usage: RANKS BENCHMARK[:own|:private] ...; 1 to %d ranks, 2 with private tensors\n", MOST_RANKS);
    return 2;
  }
  spins = world.ranks <= sysconf(_SC_NPROCESSORS_ONLN) ? SPINS : 0;
  desks = common(world.ranks * (long)sizeof *desks);
  arenas = common(world.ranks * ARENA);
  world.barrier = meet;
  world.largest = largest;
  if (!is_private) world.tensor = common_tensor, world.give_back = give_back;
  start_ranks();
  int code = run(argc - 1, argv + 1, "c shared memory", BENCHMARKS);
  ending = 1;
  meet();
  int status = 0;
  while (world.rank == 0 && wait(&status) > 0)
    if (status) code = code ? code : 1;
  return code;
}
