// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads;

import io.weft.Weft;
import io.weft.collective.Communicator;
import io.weft.workloads.training.Job;

/// The job that this process has joined.
record WeftJob(Weft weft) implements Job {

  @Override
  public int rank() {
    return weft.rank();
  }

  @Override
  public int size() {
    return weft.size();
  }

  @Override
  public int localSize() {
    return weft.topology().localSize(weft.rank());
  }

  @Override
  public Communicator communicator() {
    return weft.communicator();
  }

  @Override
  public String transport() {
    return size() == 1 ? "none" : weft.transport();
  }

  @Override
  public long bytesSent() {
    return weft.bytesSent();
  }
}
