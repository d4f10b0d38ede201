// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.schedule;

import java.util.List;

/// A collective algorithm as data: the steps of each rank, round by round. Pure; `VerifierTest`
/// proves it. Between two ranks, the sends of one and the receives of the other must be in the same
/// order.
public interface Algorithm {

  /// Returns the name that `CollectiveOptions.by` accepts.
  String name();

  /// Returns the number of chunks into which the tensor is cut for this many ranks.
  int chunks(int size);

  /// Returns the rounds of this rank. The steps of one round may run concurrently.
  List<List<Step>> schedule(int rank, int size);
}
