// SPDX-License-Identifier: Apache-2.0
package io.weft.flight;

import io.weft.collective.CollectiveObserver.Subject;
import java.util.List;

/// An operation as the collectives would show it.
record Submission(
    long communicator,
    String name,
    String words,
    int sequence,
    long bytes,
    long submittedNanos,
    List<Integer> awaited,
    List<Integer> unsubmitted)
    implements Subject {

  static Submission of(String name, int sequence) {
    return new Submission(
        7, name, "allreduce FLOAT32[2] SUM", sequence, 8, 1_000, List.of(), List.of());
  }
}
