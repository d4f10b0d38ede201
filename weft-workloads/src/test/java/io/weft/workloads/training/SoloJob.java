// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.collective.Communicator;

/// A job of one rank.
public record SoloJob() implements Job {

  @Override
  public int rank() {
    return 0;
  }

  @Override
  public int size() {
    return 1;
  }

  @Override
  public int localSize() {
    return 1;
  }

  @Override
  public Communicator communicator() {
    throw new IllegalStateException("one rank has nobody to talk to");
  }

  @Override
  public String transport() {
    return "none";
  }

  @Override
  public long bytesSent() {
    return 0;
  }
}
