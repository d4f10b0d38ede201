// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.rank;

/// One collective of one size in the form that is measured. Confined to the rank's main thread.
interface Work {

  /// Rewrites this rank's input for iteration `t`.
  void fill(long t);

  /// The timed part: one blocking call. Hot path.
  void call() throws InterruptedException;

  /// Whether this rank's result of iteration `t` is right, all of it. Releases what the call
  /// brought.
  boolean right(long t);
}
