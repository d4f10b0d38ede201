// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.negotiation;

import java.util.List;

/// What a round has brought. The first and the last two are the same on all ranks.
///
/// @param ready in the same order on all ranks; groups are whole
/// @param failed tensors of this rank
/// @param lastJoined the rank that joined last, when all have; -1 = not all have
/// @param leaver a rank that closes the layer; -1 = none
public record Outcome(
    List<ReadyTensor> ready, List<FailedTensor> failed, int lastJoined, int leaver) {

  /// Copies the lists.
  public Outcome {
    ready = List.copyOf(ready);
    failed = List.copyOf(failed);
  }

  /// Whether anything has changed.
  public boolean isEmpty() {
    return ready.isEmpty() && failed.isEmpty() && lastJoined < 0 && leaver < 0;
  }
}
