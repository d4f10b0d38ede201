// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.WeftConfig.OnFailure;
import io.weft.collective.Communicator;
import io.weft.tensorflow.OpLibrary;
import java.util.List;

/// A job whose communicator is measured. One thread.
final class MeasuredJob implements TrainingJob {

  private final TrainingJob inside;
  private final StepMeter meter;
  private Communicator communicator;

  MeasuredJob(TrainingJob inside, StepMeter meter) {
    this.inside = inside;
    this.meter = meter;
    this.communicator = new MeasuredCommunicator(inside.communicator(), meter);
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
  public List<Integer> members() {
    return inside.members();
  }

  @Override
  public long epoch() {
    return inside.epoch();
  }

  @Override
  public OnFailure onFailure() {
    return inside.onFailure();
  }

  /// Graphs that were built on the communicator go on with the next one.
  @Override
  public void shrink() throws InterruptedException {
    inside.shrink();
    var next = new MeasuredCommunicator(inside.communicator(), meter);
    OpLibrary.load().rebind(communicator, next);
    communicator = next;
  }

  @Override
  public int threads() {
    return inside.threads();
  }

  @Override
  public Communicator communicator() {
    return communicator;
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
