// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.fault;

/// The state of one direction between two ranks, for all connections that they make. Thread-safe.
final class Direction {

  private final int sender;
  private final int receiver;
  private volatile long delayNanos;
  private volatile long stalledFrom;
  private volatile long stalledNanos;

  Direction(int sender, int receiver) {
    this.sender = sender;
    this.receiver = receiver;
  }

  int sender() {
    return sender;
  }

  int receiver() {
    return receiver;
  }

  /// Returns the lateness of bytes.
  long delayNanos() {
    return delayNanos;
  }

  void delay(long nanos) {
    delayNanos = nanos;
  }

  /// Returns the remaining time of a stall; 0 if nothing is stalled.
  long stalledNanos(long now) {
    long length = stalledNanos;
    return length == 0 ? 0 : Math.max(0, length - (now - stalledFrom));
  }

  void stall(long now, long nanos) {
    stalledNanos = 0;
    stalledFrom = now;
    stalledNanos = nanos;
  }

  void heal() {
    delayNanos = 0;
    stalledNanos = 0;
  }
}
