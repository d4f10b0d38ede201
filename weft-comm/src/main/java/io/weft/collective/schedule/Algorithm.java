// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.schedule;

import java.util.List;

/// A collective algorithm as data: what each rank does, round by round. Pure; `VerifierTest` proves
/// it. Between two ranks, the sends of one and the receives of the other must be in the same order.
public interface Algorithm {

  /// The name that `CollectiveOptions.by` takes.
  String name();

  /// Into how many chunks the tensor is cut for this many ranks.
  int chunks(int size);

  /// The rounds of this rank; the steps of one round may run at the same time.
  List<List<Step>> schedule(int rank, int size);
}
