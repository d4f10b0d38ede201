// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import io.weft.transport.Transport;

/// When the sockets below are looked after: always while connections are being made, every 100
/// microseconds while nothing but the end of a process is expected from them, since each look costs
/// a system call.
final class SocketWatch {

  private static final long LOOK_NANOS = 100_000;
  private static final long ACTIVE_NANOS = 20_000_000;

  private final Transport tcp;
  private long lookedNanos;
  private long workedNanos;
  private boolean worked;
  private boolean toFlush;
  private int wakes;

  SocketWatch(Transport tcp) {
    this.tcp = tcp;
  }

  /// Whether somebody has made, called or ended a connection a moment ago.
  boolean isActive() {
    return worked;
  }

  /// Something was given to TCP.
  void flushSoon() {
    toFlush = true;
  }

  /// A peer has told over TCP that something is in memory.
  void wakeHeard() {
    wakes++;
  }

  boolean isDue(long now) {
    long since = now - lookedNanos;
    // A clock that jumps back must not blind us.
    return since >= LOOK_NANOS || since < 0 || toFlush || worked;
  }

  /// Turns the TCP transport once.
  int look(long now) {
    lookedNanos = now;
    // What peers say beside their memory is not a sign that connections are being made: who took
    // it for one would wait over sockets, be woken over them, and so for ever.
    boolean flushing = toFlush;
    toFlush = false;
    wakes = 0;
    int done = tcp.poll(now);
    if (done > 0 && !flushing && wakes == 0) {
      worked = true;
      workedNanos = now;
    } else {
      worked &= now - workedNanos < ACTIVE_NANOS;
    }
    return done;
  }

  /// Before a wait: nothing that was given to TCP stays behind; whether there was something.
  boolean flush() {
    boolean flushing = toFlush;
    if (flushing) {
      var unused = look(lookedNanos);
    }
    return flushing;
  }
}
