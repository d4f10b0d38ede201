// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.schedule;

/// A step of one rank of an algorithm: it moves a run of neighbouring chunks in one piece. The
/// chunks of a run have one history: on each side either all or none of them have been received
/// before.
public sealed interface Step {

  /// Returns the first chunk of the run.
  int chunk();

  /// Returns the number of chunks of the run, at least one.
  int chunks();

  /// Returns the other rank.
  int peer();

  /// Returns this step for another run, with another rank.
  default Step at(int otherChunk, int otherChunks, int otherPeer) {
    return switch (this) {
      case Send _ -> new Send(otherChunk, otherChunks, otherPeer);
      case ReceiveReduce _ -> new ReceiveReduce(otherChunk, otherChunks, otherPeer);
      case ReceiveLeaf s ->
          new ReceiveLeaf(otherChunk, otherChunks, otherPeer, s.leaf(), s.own(), s.leaves());
      case ReceiveCopy _ -> new ReceiveCopy(otherChunk, otherChunks, otherPeer);
    };
  }

  /// Returns whether this step combines the peer's run into this rank's run.
  default boolean combines() {
    return switch (this) {
      case Send _, ReceiveCopy _ -> false;
      case ReceiveReduce _, ReceiveLeaf _ -> true;
    };
  }

  /// Sends the run as it is when the round begins.
  record Send(int chunk, int chunks, int peer) implements Step {
    public Send(int chunk, int peer) {
      this(chunk, 1, peer);
    }
  }

  /// Receives the peer's run and combines it into this rank's run.
  record ReceiveReduce(int chunk, int chunks, int peer) implements Step {
    public ReceiveReduce(int chunk, int peer) {
      this(chunk, 1, peer);
    }
  }

  /// Receives one of the runs that are combined at once with this rank's run, in the tree of
  /// `AdditionOrder`. The steps of one tree are adjacent in a round: one for each leaf except this
  /// rank's, in any order.
  ///
  /// @param leaf index of the peer's run
  /// @param own index of this rank's run
  /// @param leaves number of runs, including this rank's
  record ReceiveLeaf(int chunk, int chunks, int peer, int leaf, int own, int leaves)
      implements Step {}

  /// Receives the peer's run in place of this rank's run.
  record ReceiveCopy(int chunk, int chunks, int peer) implements Step {
    public ReceiveCopy(int chunk, int peer) {
      this(chunk, 1, peer);
    }
  }
}
