// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.collective.Communicator;

/// A job whose communicator is measured.
///
/// @param inside the job
/// @param communicator around that of `inside`
record MeasuredJob(Job inside, Communicator communicator) implements Job {

  MeasuredJob(Job inside, StepMeter meter) {
    this(inside, new MeasuredCommunicator(inside.communicator(), meter));
  }

  @Override
  public int rank() {
    return inside.rank();
  }

  @Override
  public int size() {
    return inside.size();
  }

  @Override
  public int localSize() {
    return inside.localSize();
  }

  @Override
  public String transport() {
    return inside.transport();
  }

  @Override
  public long bytesSent() {
    return inside.bytesSent();
  }
}
