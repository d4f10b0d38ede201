// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.fault;

/// What holds for everything that one rank sends to another, over all connections that they make.
/// Any thread.
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

  /// How much later bytes arrive.
  long delayNanos() {
    return delayNanos;
  }

  void delay(long nanos) {
    delayNanos = nanos;
  }

  /// How much longer nothing moves; 0 = it moves.
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
