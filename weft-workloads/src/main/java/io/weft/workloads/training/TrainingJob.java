// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.TransferCounts;
import io.weft.Weft;
import io.weft.cluster.elastic.OnFailure;
import io.weft.collective.Communicator;
import io.weft.observer.OperationObserver;
import io.weft.telemetry.metrics.GoodputMeter;
import io.weft.telemetry.timeline.Timeline;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;

/// The ranks that train together, as one of them sees the job.
public interface TrainingJob {

  /// Returns the job that this process has joined; the caller still closes `weft`.
  ///
  /// @param threads that compute; if empty, this rank's share of the host's cores
  /// @param timeline that records the rank's steps
  static TrainingJob of(Weft weft, OptionalInt threads, Timeline timeline) {
    long uptime = ManagementFactory.getRuntimeMXBean().getUptime();
    return new WeftJob(
        weft,
        threads,
        timeline,
        new GoodputMeter(weft.size()),
        timeline.nanos() - TimeUnit.MILLISECONDS.toNanos(uptime));
  }

  /// Returns the timeline that records steps, input, tests and checkpoints.
  Timeline timeline();

  /// Returns the meter of the time that the job uses for each purpose.
  GoodputMeter goodput();

  /// Returns the time at which the process began, by the clock of its timeline.
  long begunNanos();

  /// Returns this rank among the present ranks, from 0.
  int rank();

  /// Returns the number of present ranks.
  int size();

  /// Returns the present ranks by the numbers with which the job began, ascending.
  List<Integer> members();

  /// Returns the number of times that the job has shrunk.
  long epoch();

  /// Returns the reaction to the loss of a rank.
  OnFailure onFailure();

  /// Continues with the remaining ranks, which must also call this method. From then on `rank`,
  /// `size`, `members` and `communicator` refer to these ranks, and graphs built on the
  /// communicator use the next one. Throws `CommException` if the job cannot continue.
  void shrink() throws InterruptedException;

  /// Returns the number of computing threads, which determines the order of a rank's additions.
  int threads();

  /// Returns the job of the ranks. A TensorFlow training on one rank does not use it.
  Weft weft();

  /// Returns the communicator of all present ranks. A job of one rank does not use it.
  Communicator communicator();

  /// Notifies `observer` of all operations of this rank until `unobserve`.
  void observe(OperationObserver observer);

  /// Stops notifying `observer`.
  void unobserve(OperationObserver observer);

  /// Returns the scheme of the transport; "none" for one rank.
  String transport();

  /// Returns the bytes that this rank has exchanged with other ranks: sent to them, or read and
  /// written in their mapped memory.
  long bytesSent();

  /// Returns the transfers of this rank since its start.
  TransferCounts transfers();
}
