// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.transport.Endpoint;
import org.jspecify.annotations.Nullable;

/// One other rank as its mesh knows it, or this rank itself: the endpoint, once there is one, and
/// what became of the rank. Confined to the progress thread.
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

  /// The endpoint to it, closed perhaps; null if there never was one.
  @Nullable Endpoint endpoint() {
    return endpoint;
  }

  void connected(Endpoint with) {
    endpoint = with;
  }

  /// The endpoint to it while it is not gone.
  ///
  /// Hot path.
  @Nullable Endpoint live() {
    return gone ? null : endpoint;
  }

  /// Whether it has left or is lost.
  ///
  /// Hot path.
  boolean isGone() {
    return gone;
  }

  /// Whether it has left in order.
  boolean hasLeft() {
    return left;
  }

  /// It is lost, or may be.
  void goes() {
    gone = true;
  }

  /// It has said good-bye.
  void leaves() {
    gone = true;
    left = true;
  }

  /// It was gone before this rank came, as another one says: nothing is heard of it any more.
  void isAbsentFromTheStart() {
    absent = true;
    leaves();
  }

  /// Whether it was gone before this rank came.
  boolean isAbsent() {
    return absent;
  }

  /// What was believed of it does not count any more.
  void remains() {
    gone = false;
    left = false;
  }

  /// How many lost ranks it has been told of.
  int told() {
    return told;
  }

  void tellsOneMore() {
    told++;
  }

  /// It knows of so many lost ranks already.
  void knows(int lost) {
    told = lost;
  }
}
