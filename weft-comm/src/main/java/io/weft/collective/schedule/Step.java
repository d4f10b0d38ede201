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

  /// Receives the peer's run in place of ours.
  record ReceiveCopy(int chunk, int chunks, int peer) implements Step {
    /// One chunk.
    public ReceiveCopy(int chunk, int peer) {
      this(chunk, 1, peer);
    }
  }
}
