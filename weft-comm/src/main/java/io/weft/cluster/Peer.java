// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.transport.Endpoint;
import org.jspecify.annotations.Nullable;

/// The state of one rank in the mesh of another one, or of this rank itself: the endpoint, if there
/// is one, and the rank's exit. Confined to the progress thread.
final class Peer {

  private final int rank;
  private @Nullable Endpoint endpoint;
  private boolean gone;
  private boolean left;
  private boolean absent;
  private int told;

  Peer(int rank) {
    this.rank = rank;
  }

  int rank() {
    return rank;
  }

  /// The endpoint to the rank, possibly closed; null if there never was one.
  @Nullable Endpoint endpoint() {
    return endpoint;
  }

  void connected(Endpoint with) {
    endpoint = with;
  }

  /// The endpoint to the rank, or null if the rank is gone.
  ///
  /// Hot path.
  @Nullable Endpoint live() {
    return gone ? null : endpoint;
  }

  /// Returns whether the rank has left or is lost.
  ///
  /// Hot path.
  boolean isGone() {
    return gone;
  }

  /// Returns whether the rank has left in an orderly way.
  boolean hasLeft() {
    return left;
  }

  /// Marks the rank as lost or possibly lost.
  void goes() {
    gone = true;
  }

  void leaves() {
    gone = true;
    left = true;
  }

  /// Marks the rank as gone before this rank joined, according to another rank. Later reports about
  /// it are ignored.
  void isAbsentFromTheStart() {
    absent = true;
    leaves();
  }

  /// Returns whether the rank was gone before this rank joined.
  boolean isAbsent() {
    return absent;
  }

  /// Revokes the marks for a lost or left rank.
  void remains() {
    gone = false;
    left = false;
  }

  /// Number of losses that the rank has been told.
  int told() {
    return told;
  }

  void tellsOneMore() {
    told++;
  }

  /// Sets the number of losses that the rank knows already.
  void knows(int lost) {
    told = lost;
  }
}
