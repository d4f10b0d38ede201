// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import io.weft.transport.Transport;

/// Decides when to poll the TCP sockets. It polls them always while connections are being
/// established, and otherwise every 100 microseconds, because each poll costs a system call.
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

  /// Returns whether a connection was recently established, attempted or ended.
  boolean isActive() {
    return worked;
  }

  /// Records that data was posted to TCP.
  void flushSoon() {
    toFlush = true;
  }

  /// Records that a peer has sent a wake-up over TCP.
  void wakeHeard() {
    wakes++;
  }

  boolean isDue(long now) {
    long since = now - lookedNanos;
    // The check must also succeed after the clock has jumped back.
    return since >= LOOK_NANOS || since < 0 || toFlush || worked;
  }

  int look(long now) {
    lookedNanos = now;
    // Messages of established peers do not indicate new connections. A process that took them for
    // such would wait over sockets, be woken over them, and repeat this forever.
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

  /// Flushes data posted to TCP before a wait; returns whether there was any.
  boolean flush() {
    boolean flushing = toFlush;
    if (flushing) {
      var unused = look(lookedNanos);
    }
    return flushing;
  }
}
