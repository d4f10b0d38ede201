// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.peer.collective;

import io.weft.perf.rank.RankGroup;
import io.weft.perf.rank.TimedCall;

/// A library of collectives. Its methods throw `IllegalStateException` with the library's message.
interface CollectiveLibrary {

  /// Loads the library. Returns its name and version. Throws `LinkageError` where it has no native
  /// code for this machine.
  String load();

  /// Opens the place at which the ranks find each other. Rank 0 calls it.
  MeetingPlace open(int ranks);

  /// Joins as one rank at a place and blocks until all ranks have joined.
  ///
  /// @param place the words of the place
  CollectiveRank join(int rank, int ranks, String place);

  /// The place at which the ranks find each other.
  interface MeetingPlace extends AutoCloseable {

    /// Returns the words by which another process finds the place.
    String words();

    @Override
    void close();
  }

  /// One rank.
  interface CollectiveRank extends RankGroup, AutoCloseable {

    /// Allocates the tensors of an allreduce of `elements` float32.
    TimedCall allreduce(int elements);

    @Override
    void close();
  }
}
