// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry;

import io.weft.observer.ObservedOperation;

/// An operation on a table as a worker or a server reports it.
public record TableRequest(
    Service service, long id, String name, String table, long rows, long bytes)
    implements ObservedOperation {

  @Override
  public long communicator() {
    return 0;
  }

  @Override
  public String words() {
    return service == Service.KV_WORKER ? "worker" : "server";
  }

  @Override
  public int sequence() {
    return 0;
  }

  @Override
  public long submittedNanos() {
    return 1_000;
  }

  @Override
  public int lastHeard() {
    return 2;
  }
}
