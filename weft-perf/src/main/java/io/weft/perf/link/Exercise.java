// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.link;

/// One benchmark of one size between two ranks: rank 0 times, rank 1 answers. Owns its memory.
interface Exercise extends PeerLink.Ear, AutoCloseable {

  /// Rank 0's part of `iterations`: how long each took, in nanoseconds. `first` is the number of
  /// the first one, which the data shows.
  long[] drive(long first, int iterations);

  /// Rank 1's part of the same.
  void answer(long first, int iterations);

  /// Whether all that this rank has received so far was right.
  boolean isRight();

  @Override
  void close();
}
