// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.TransferCounts;
import io.weft.Weft;
import io.weft.cluster.elastic.OnFailure;
import io.weft.collective.Communicator;
import io.weft.observer.OperationObserver;
import io.weft.telemetry.metrics.GoodputMeter;
import io.weft.telemetry.timeline.Timeline;
import io.weft.tensorflow.OpLibrary;
import java.util.List;
import java.util.OptionalInt;

/// The job that this process has joined.
///
/// @param wanted the number of threads that compute; if empty, the ranks of a host share its cores
/// @param timeline that records the rank's steps
/// @param goodput the meter of the job's use of time
/// @param begunNanos the time at which the process began
record WeftJob(
    Weft weft, OptionalInt wanted, Timeline timeline, GoodputMeter goodput, long begunNanos)
    implements TrainingJob {

  @Override
  public int rank() {
    return weft.communicator().rank();
  }

  @Override
  public int size() {
    return weft.communicator().size();
  }

  @Override
  public List<Integer> members() {
    return weft.members().ranks();
  }

  @Override
  public long epoch() {
    return weft.epoch();
  }

  @Override
  public OnFailure onFailure() {
    return weft.config().onFailure();
  }

  @Override
  public void shrink() throws InterruptedException {
    Communicator before = weft.communicator();
    OpLibrary.load().rebind(before, weft.shrink(weft.config().deadline()));
  }

  @Override
  public int threads() {
    return wanted.orElse(weft.processorShare());
  }

  @Override
  public Communicator communicator() {
    return weft.communicator();
  }

  @Override
  public void observe(OperationObserver observer) {
    weft.observe(observer);
  }

  @Override
  public void unobserve(OperationObserver observer) {
    weft.unobserve(observer);
  }

  @Override
  public String transport() {
    return weft.size() == 1 ? "none" : weft.transport();
  }

  @Override
  public long bytesSent() {
    return weft.bytesSent() + weft.bytesMapped();
  }

  @Override
  public TransferCounts transfers() {
    return weft.transfers();
  }
}
