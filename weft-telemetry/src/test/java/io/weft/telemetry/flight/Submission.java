// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.flight;

import io.weft.observer.ObservedOperation;
import java.util.List;

/// An operation as the collectives report it.
record Submission(
    long id,
    long communicator,
    String name,
    String words,
    int sequence,
    long bytes,
    long submittedNanos,
    List<Integer> awaited,
    List<Integer> unsubmitted)
    implements ObservedOperation {

  static Submission of(String name, int sequence) {
    return new Submission(
        (long) name.hashCode() << 32 | sequence,
        7,
        name,
        "allreduce FLOAT32[2] SUM",
        sequence,
        8,
        1_000,
        List.of(),
        List.of());
  }

  @Override
  public Service service() {
    return Service.COLLECTIVE;
  }

  @Override
  public int lastHeard() {
    return -1;
  }
}
