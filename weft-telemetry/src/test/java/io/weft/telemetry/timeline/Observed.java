// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.timeline;

import io.weft.observer.ObservedOperation;

/// An operation as an observer sees it.
record Observed(Service service, long id, String name, int sequence, long submittedNanos)
    implements ObservedOperation {

  static Observed named(long id, String name) {
    return new Observed(Service.COLLECTIVE, id, name, 0, 1000 * id);
  }

  @Override
  public long communicator() {
    return 77;
  }

  @Override
  public String words() {
    return "allreduce FLOAT32[2] SUM";
  }

  @Override
  public long bytes() {
    return 8;
  }

  @Override
  public int lastHeard() {
    return 1;
  }
}
