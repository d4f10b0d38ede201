// SPDX-License-Identifier: Apache-2.0
//
// The peer `c` of `weft perf`: the speed of a plain C program over one TCP connection on loopback. It passes 256 KiB to
// a call, has a receive buffer of 4 MiB, no delay, and a send buffer of 128 KiB, with which each run is as fast as the
// best runs with larger ones. There are two processes. The second ends with the first.
//
// A rank that waits for bytes or for room tries SPINS times without blocking, then blocks. Waking a peer takes 20 to 70
// microseconds.
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "perf.h"

enum { CHUNK = 256 << 10, SEND_BUFFER = 128 << 10, RECEIVE_BUFFER = 4 << 20, SPINS = 2000 };

// Sizes of an allreduce. Up to WHOLE bytes the ranks exchange whole tensors, above it halves. A rank sends a PIECE per
// call and is at most AHEAD bytes ahead of the bytes it has received. Operands are received into a ring, which fits a
// cache. Pieces of 128 KiB took 4.6 to 5.0 ms for 16 MiB instead of 4.3 to 4.5. 128 or 512 KiB ahead made no difference.
enum { WHOLE = 8 << 10, PIECE = 256 << 10, AHEAD = 256 << 10, RING = 512 << 10 };

static int peer;

static void put(const void *data, long bytes) {
  for (long at = 0, spin = 0; at < bytes; spin++) {
    int how = MSG_NOSIGNAL | (spin < SPINS ? MSG_DONTWAIT : 0);
    ssize_t n = send(peer, (const char *)data + at, bytes - at < CHUNK ? bytes - at : CHUNK, how);
    if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) die("send");
    if (n > 0) at += n, spin = 0;
  }
}

// Receives the available bytes, at least one, at most `most`.
static long some(void *into, long most) {
  for (int spin = 0;; spin++) {
    ssize_t n = recv(peer, into, most < CHUNK ? most : CHUNK, spin < SPINS ? MSG_DONTWAIT : 0);
    if (n > 0) return n;
    if (n == 0) fprintf(stderr, "rank %d: the other rank is gone\n", world.rank), exit(1);
    if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) die("recv");
  }
}

static void take(void *into, long bytes) {
  for (long at = 0; at < bytes;) at += some((char *)into + at, bytes - at);
}

// ---- world -----------------------------------------------------------------------------------------------------------

static void meet(void) {
  char word = 0;
  if (world.rank == 0) put(&word, 1), take(&word, 1);
  else take(&word, 1), put(&word, 1);
}

static void largest(int64_t *values, long count) {
  int64_t *others = malloc(count * sizeof *others);
  if (world.rank == 0) put(values, count * sizeof *values), take(others, count * sizeof *others);
  else take(others, count * sizeof *others), put(values, count * sizeof *values);
  for (long i = 0; i < count; i++)
    if (others[i] > values[i]) values[i] = others[i];
  free(others);
}

// ---- benchmarks ------------------------------------------------------------------------------------------------------

static void pingpong(struct work *w) {
  if (world.rank == 0) put(w->in, w->bytes), take(w->out, w->bytes);
  else take(w->out, w->bytes), put(w->out, w->bytes);
}

WIDE static void add(const float *restrict a, const float *restrict b, float *restrict sum, long elements) {
  for (long i = 0; i < elements; i++) sum[i] = a[i] + b[i];
}

static void await(int room, int bytes) {
  struct pollfd wanted = {peer, (short)((room ? POLLOUT : 0) | (bytes ? POLLIN : 0)), 0};
  if (poll(&wanted, 1, -1) < 0 && errno != EINTR) die("poll");
}

static float *ring;

// Adds the elements `from` to `to` of `own` and of the ring into `sum`.
static void add_heard(const float *own, float *sum, long from, long to) {
  const long room = RING / sizeof *ring;
  for (long run; from < to; from += run) {
    run = room - from % room < to - from ? room - from % room : to - from;
    add(own + from, ring + from % room, sum + from, run);
  }
}

// Sends `out` and receives `in_bytes` concurrently. The result is in `in`. If `own` is given, it is added to the
// received data.
static void exchange(const float *out, long out_bytes, float *in, long in_bytes, const float *own) {
  long sent = 0, heard = 0, added = 0, before = 0;
  for (int spin = 0; sent < out_bytes || heard < in_bytes; spin++) {
    int may_say = sent < out_bytes && (heard == in_bytes || sent - heard < AHEAD);
    if (sent + heard > before) spin = 0, before = sent + heard;
    if (spin >= SPINS) await(may_say, heard < in_bytes);
    if (may_say) {
      long most = out_bytes - sent < PIECE ? out_bytes - sent : PIECE;
      ssize_t n = send(peer, (const char *)out + sent, most, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (n > 0) sent += n;
      else if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) die("send");
    }
    if (heard < in_bytes) {
      long at = own ? heard % RING : heard, room = own ? RING - at : in_bytes;
      long most = in_bytes - heard < PIECE ? in_bytes - heard : PIECE;
      ssize_t n = recv(peer, (char *)(own ? ring : in) + at, most < room ? most : room, MSG_DONTWAIT);
      if (n == 0) fprintf(stderr, "rank %d: the other rank is gone\n", world.rank), exit(1);
      if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) die("recv");
      if (n > 0) heard += n;
      long whole = heard / (long)sizeof *in;
      if (own && whole > added) add_heard(own, in, added, whole), added = whole;
    }
  }
}

static void allreduce(struct work *w) {
  if (!ring) ring = tensor(RING);
  if (w->bytes <= WHOLE) {
    exchange(w->in, w->bytes, w->out, w->bytes, w->in);
    return;
  }
  long first = w->elements / 2, lengths[] = {first, w->elements - first}, other = 1 - world.rank;
  long mine = world.rank ? first : 0, others = world.rank ? 0 : first;
  long my_bytes = lengths[world.rank] * (long)sizeof *w->in, other_bytes = lengths[other] * (long)sizeof *w->in;
  exchange(w->in + others, other_bytes, w->out + mine, my_bytes, w->in + mine);
  exchange(w->out + mine, my_bytes, w->out + others, other_bytes, NULL);
}

// Rank 1 confirms the arrival by one byte.
static void bandwidth(struct work *w) {
  char word = 0;
  if (world.rank == 0) put(w->in, w->bytes), take(&word, 1);
  else take(w->out, w->bytes), put(&word, 1);
}

// Each round reads the available bytes and writes all permitted messages in one call.
static int messages(struct work *w, long iterations, int64_t *times) {
  long total = iterations * w->batch, sent = 0, received = 0, kept = 0;
  long room = w->outstanding * w->bytes;
  if (room > RECEIVE_BUFFER) {  // Both ranks would block in a write until the other reads.
    fprintf(stderr, "%ld messages of %ld bytes do not fit into a socket buffer of 4 MiB\n", w->outstanding, w->bytes);
    exit(2);
  }
  char *out = (char *)tensor(room), *in = (char *)tensor(room);
  int good = 1;
  uint64_t mark = world.rank == 0 ? 0 : ANSWER, expected = world.rank == 0 ? ANSWER : 0;
  int64_t begin = nanos();
  while (received < total || sent < total) {
    long ahead = world.rank == 0 ? received + w->outstanding : received, fresh = 0;
    if (ahead > total) ahead = total;
    for (; sent < ahead; sent++, fresh++) number(out + fresh * w->bytes, w->bytes, sent, mark);
    put(out, fresh * w->bytes);
    if (received == total) break;
    kept += some(in + kept, room - kept);
    long at = 0;
    for (; at + w->bytes <= kept; at += w->bytes, received++) {
      good &= numbered(in + at, w->bytes, received, expected);
      if ((received + 1) % w->batch == 0) {
        int64_t now = nanos();
        times[received / w->batch] = now - begin;
        begin = now;
      }
    }
    memmove(in, in + at, kept -= at);
  }
  free(out), free(in);
  return good;
}

static const struct benchmark BENCHMARKS[] = {
    {"allreduce", SLOWEST_RANK, fill_all, allreduce, check_sum, NULL},
    {"pingpong", HALF_OF_RANK_ZERO, fill_at_root, pingpong, check_copy_at_root, NULL},
    {"bandwidth", RANK_ZERO, fill_at_root, bandwidth, check_copy_at_one, NULL},
    {"messages", RANK_ZERO, NULL, NULL, NULL, messages},
    {NULL, SLOWEST_RANK, NULL, NULL, NULL, NULL},
};

// ---- processes -------------------------------------------------------------------------------------------------------

static void tune(int fd) {
  int sends = SEND_BUFFER, receives = RECEIVE_BUFFER, on = 1;
  setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &sends, sizeof sends);
  setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receives, sizeof receives);
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

static void connect_ranks(pid_t *child) {
  struct sockaddr_in here;
  socklen_t length = sizeof here;
  memset(&here, 0, sizeof here);
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  if (listener < 0) die("socket");
  tune(listener);
  if (bind(listener, (struct sockaddr *)&here, sizeof here) || listen(listener, 1)) die("listen on 127.0.0.1");
  if (getsockname(listener, (struct sockaddr *)&here, &length)) die("getsockname");
  pid_t parent = getpid();
  *child = fork();
  if (*child < 0) die("fork");
  if (*child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) exit(1);
    world.rank = 1;
    close(listener);
    peer = socket(AF_INET, SOCK_STREAM, 0);
    tune(peer);
    if (connect(peer, (struct sockaddr *)&here, sizeof here)) die("connect");
  } else {
    peer = accept(listener, NULL, NULL);
    if (peer < 0) die("accept");
    tune(peer);
    close(listener);
  }
}

int main(int argc, char **argv) {
  pid_t child;
  world.ranks = 2;
  world.barrier = meet;
  world.largest = largest;
  connect_ranks(&child);
  int code = run(argc, argv, "c sockets", BENCHMARKS);
  int status = 0;
  if (world.rank == 0) {
    close(peer);
    if (waitpid(child, &status, 0) == child && status) code = code ? code : 1;
  }
  return code;
}
