// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.schedule;

/// Extends a power-of-two algorithm to any world size. With p the largest power of two up to n, the
/// first 2(n-p) ranks pair up. The even rank of a pair hands its tensor to the odd one before the
/// algorithm, and receives the result after it [THAKUR05 §4.5].
///
/// @param size world size n
/// @param active p, the number of ranks that run the algorithm
/// @param folded n-p, the number of ranks that only hand over
record Folding(int size, int active, int folded) {

  static Folding of(int size) {
    int active = Integer.highestOneBit(size);
    return new Folding(size, active, size - active);
  }

  /// Returns whether this rank only hands over.
  boolean isGuest(int rank) {
    return rank < 2 * folded && rank % 2 == 0;
  }

  /// Returns whether this rank has received a guest's tensor.
  boolean isHost(int rank) {
    return rank < 2 * folded && rank % 2 == 1;
  }

  /// Returns the number of an active rank among the active ones.
  int virtual(int rank) {
    return rank < 2 * folded ? rank / 2 : rank - folded;
  }

  /// Returns the rank with this number among the active ones.
  int real(int virtual) {
    return virtual < folded ? 2 * virtual + 1 : virtual + folded;
  }
}
