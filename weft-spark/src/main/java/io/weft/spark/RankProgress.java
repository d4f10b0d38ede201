// SPDX-License-Identifier: Apache-2.0
package io.weft.spark;

import io.weft.Weft;

/// The progress of a rank's training, which the program reports. The driver logs the progress of
/// all ranks at Spark's heartbeats, and Spark's stage page shows it as accumulators. One thread.
///
/// ```java
/// rank.progress().epoch(1);
/// rank.progress().step(64, loss); // after each step
/// ```
public final class RankProgress {

  private final Weft weft;
  private final JobCounters counters;
  private int epoch;
  private long counted;

  RankProgress(Weft weft, JobCounters counters) {
    this.weft = weft;
    this.counters = counters;
  }

  /// Begins an epoch, from 1 on. The reported loss is that of the examples of the last epoch.
  public void epoch(int number) {
    if (number < 1) {
      throw new IllegalArgumentException("epochs are counted from 1, got " + number);
    }
    epoch = number;
  }

  /// Counts a step.
  ///
  /// @param examples the examples of this rank's batch
  /// @param loss their mean loss
  public void step(int examples, double loss) {
    if (examples < 0) {
      throw new IllegalArgumentException("a batch has at least 0 examples, got " + examples);
    }
    counters.examples().add(examples);
    counters.steps().add(1L);
    counters.loss().add(new EpochLoss(epoch, loss * examples, examples));
    countBytes();
  }

  /// Counts the bytes that this rank has sent since the last call.
  void countBytes() {
    long sent = weft.bytesSent() + weft.bytesMapped();
    counters.bytesSent().add(sent - counted);
    counted = sent;
  }
}
