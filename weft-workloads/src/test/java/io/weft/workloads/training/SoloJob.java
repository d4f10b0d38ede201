// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.TransferCounts;
import io.weft.Weft;
import io.weft.agent.Ticker;
import io.weft.cluster.elastic.OnFailure;
import io.weft.collective.Communicator;
import io.weft.observer.OperationObserver;
import io.weft.telemetry.metrics.GoodputMeter;
import io.weft.telemetry.timeline.Timeline;
import java.util.List;

/// A job of one rank.
public record SoloJob(GoodputMeter goodput) implements TrainingJob {

  public SoloJob() {
    this(new GoodputMeter(1));
  }

  @Override
  public int rank() {
    return 0;
  }

  @Override
  public int size() {
    return 1;
  }

  @Override
  public List<Integer> members() {
    return List.of(0);
  }

  @Override
  public long epoch() {
    return 0;
  }

  @Override
  public OnFailure onFailure() {
    return OnFailure.END;
  }

  @Override
  public void shrink() {
    throw new IllegalStateException("one rank cannot become fewer");
  }

  @Override
  public int threads() {
    return 1;
  }

  @Override
  public Weft weft() {
    throw new IllegalStateException("one rank has joined nobody");
  }

  @Override
  public Communicator communicator() {
    throw new IllegalStateException("one rank has nobody to talk to");
  }

  @Override
  public Timeline timeline() {
    return new Timeline(Ticker.SYSTEM, Timeline.FEWEST);
  }

  @Override
  public GoodputMeter goodput() {
    return goodput;
  }

  @Override
  public long begunNanos() {
    return Ticker.SYSTEM.nanos();
  }

  @Override
  public String transport() {
    return "none";
  }

  @Override
  public long bytesSent() {
    return 0;
  }

  @Override
  public TransferCounts transfers() {
    return TransferCounts.NONE;
  }

  @Override
  public void observe(OperationObserver observer) {}

  @Override
  public void unobserve(OperationObserver observer) {}
}
