// SPDX-License-Identifier: Apache-2.0
//
// The peer `c` of `weft perf`: what a plain C program reaches over one TCP connection on loopback: 256 KiB a call, socket
// buffers of 4 MiB, no delay. Two processes; the second ends with the first.
//
// Whoever waits for bytes asks SPINS times without blocking, then blocks: a sleeping peer costs 20 to 70 microseconds.
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "perf.h"

enum { CHUNK = 256 << 10, SOCKET_BUFFER = 4 << 20, SPINS = 2000 };

static int peer;

static void put(const void *data, long bytes) {
  for (long at = 0; at < bytes;) {
    ssize_t n = send(peer, (const char *)data + at, bytes - at < CHUNK ? bytes - at : CHUNK, MSG_NOSIGNAL);
    if (n < 0 && errno != EINTR) die("send");
    if (n > 0) at += n;
  }
}

// What is there, at most `most`; waits for at least a byte.
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

// A byte back says that all is there.
static void bandwidth(struct work *w) {
  char word = 0;
  if (world.rank == 0) put(w->in, w->bytes), take(&word, 1);
  else take(w->out, w->bytes), put(&word, 1);
}

// Every turn reads what is there and writes all that may be said in one call.
static int messages(struct work *w, long iterations, int64_t *times) {
  long total = iterations * w->batch, sent = 0, received = 0, kept = 0;
  long room = w->outstanding * w->bytes;
  if (room > SOCKET_BUFFER) {  // both ranks would wait in a write for the other to read
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
    {"pingpong", HALF_OF_RANK_ZERO, fill_at_root, pingpong, check_copy_at_root, NULL},
    {"bandwidth", RANK_ZERO, fill_at_root, bandwidth, check_copy_at_one, NULL},
    {"messages", RANK_ZERO, NULL, NULL, NULL, messages},
    {NULL, SLOWEST_RANK, NULL, NULL, NULL, NULL},
};

// ---- processes -------------------------------------------------------------------------------------------------------

static void tune(int fd) {
  int bytes = SOCKET_BUFFER, on = 1;
  setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
  setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
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
