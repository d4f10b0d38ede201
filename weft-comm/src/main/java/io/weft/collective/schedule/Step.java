// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.schedule;

/// One step of one rank of an algorithm.
public sealed interface Step {

  /// Which chunk of the tensor.
  int chunk();

  /// The other rank.
  int peer();

  /// Sends the chunk as it is when the round begins.
  record Send(int chunk, int peer) implements Step {}

  /// Receives the peer's chunk and combines it into ours.
  record ReceiveReduce(int chunk, int peer) implements Step {}

  /// Receives the peer's chunk in place of ours.
  record ReceiveCopy(int chunk, int peer) implements Step {}
}
