// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.rank;

/// One call on tensors of one size, as each rank measures it. It owns the tensors until it is
/// closed. Confined to the rank's main thread.
public interface TimedCall extends AutoCloseable {

  /// Rewrites this rank's input for iteration `t`.
  void fill(long t);

  /// Runs the timed part, one blocking call. Hot path.
  void call() throws InterruptedException;

  /// Returns whether this rank's whole result of iteration `t` is right. Releases the result.
  boolean right(long t);

  /// Returns true for a barrier, whose result is that all ranks met.
  default boolean isBarrier() {
    return false;
  }

  @Override
  void close();
}
