// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.schedule;

/// One step of one rank of an algorithm: it moves a run of neighbouring chunks in one piece. The
/// chunks of a run have one history: on each side all of them have been received before, or none.
public sealed interface Step {

  /// The first chunk of the run.
  int chunk();

  /// How many chunks the run has, at least one.
  int chunks();

  /// The other rank.
  int peer();

  /// Returns the same step of another run, with another rank.
  default Step at(int otherChunk, int otherChunks, int otherPeer) {
    return switch (this) {
      case Send _ -> new Send(otherChunk, otherChunks, otherPeer);
      case ReceiveReduce _ -> new ReceiveReduce(otherChunk, otherChunks, otherPeer);
      case ReceiveLeaf s ->
          new ReceiveLeaf(otherChunk, otherChunks, otherPeer, s.leaf(), s.own(), s.leaves());
      case ReceiveCopy _ -> new ReceiveCopy(otherChunk, otherChunks, otherPeer);
    };
  }

  /// Whether the peer's run is combined into ours.
  default boolean combines() {
    return switch (this) {
      case Send _, ReceiveCopy _ -> false;
      case ReceiveReduce _, ReceiveLeaf _ -> true;
    };
  }

  /// Sends the run as it is when the round begins.
  record Send(int chunk, int chunks, int peer) implements Step {
    /// One chunk.
    public Send(int chunk, int peer) {
      this(chunk, 1, peer);
    }
  }

  /// Receives the peer's run and combines it into ours.
  record ReceiveReduce(int chunk, int chunks, int peer) implements Step {
    /// One chunk.
    public ReceiveReduce(int chunk, int peer) {
      this(chunk, 1, peer);
    }
  }

  /// Receives one of the runs that are combined into ours at once, in the tree of `AdditionOrder`.
  /// The steps of one tree follow each other in a round: one for each leaf but ours, in any order.
  ///
  /// @param leaf the peer's run
  /// @param own our run
  /// @param leaves how many runs there are, ours among them
  record ReceiveLeaf(int chunk, int chunks, int peer, int leaf, int own, int leaves)
      implements Step {}

  /// Receives the peer's run in place of ours.
  record ReceiveCopy(int chunk, int chunks, int peer) implements Step {
    /// One chunk.
    public ReceiveCopy(int chunk, int peer) {
      this(chunk, 1, peer);
    }
  }
}
