// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.link;

/// One benchmark of one size between two ranks. Rank 0 times, rank 1 answers. Owns its memory.
interface Exercise extends PeerLink.Ear, AutoCloseable {

  /// Runs rank 0's part of `iterations`. Returns the time of each in nanoseconds. `first` is the
  /// number of the first one, from which the data is made.
  long[] drive(long first, int iterations);

  /// Runs rank 1's part of the same iterations.
  void answer(long first, int iterations);

  /// Returns whether all data that this rank has received so far was right.
  boolean isRight();

  @Override
  void close();
}
