// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.negotiation;

import java.util.List;

/// The outcome of a round. All fields except `failed` are equal on all ranks.
///
/// @param ready ready tensors, in the same order on all ranks; groups are complete
/// @param failed failed tensors of this rank
/// @param lastJoined the rank that joined last, when all have joined; -1 = not all have
/// @param leaver a rank that closes the layer; -1 = none
public record Outcome(
    List<ReadyTensor> ready, List<FailedTensor> failed, int lastJoined, int leaver) {

  /// Copies the lists.
  public Outcome {
    ready = List.copyOf(ready);
    failed = List.copyOf(failed);
  }

  /// Returns true if the round changed nothing.
  public boolean isEmpty() {
    return ready.isEmpty() && failed.isEmpty() && lastJoined < 0 && leaver < 0;
  }
}
