// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.Weft;
import io.weft.cluster.elastic.OnFailure;
import io.weft.collective.Communicator;
import io.weft.dataparallel.metrics.GoodputMeter;
import io.weft.dataparallel.timeline.Timeline;
import io.weft.observer.OperationObserver;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;

/// The ranks that train together, seen from one of them.
public interface TrainingJob {

  /// The job that this process has joined; the caller still closes it.
  ///
  /// @param threads that compute; empty: this rank's share of the host's cores
  /// @param timeline where its steps are recorded
  static TrainingJob of(Weft weft, OptionalInt threads, Timeline timeline) {
    long uptime = ManagementFactory.getRuntimeMXBean().getUptime();
    return new WeftJob(
        weft,
        threads,
        timeline,
        new GoodputMeter(weft.size()),
        timeline.nanos() - TimeUnit.MILLISECONDS.toNanos(uptime));
  }

  /// Where steps, input, tests and checkpoints are recorded.
  Timeline timeline();

  /// Where its time goes.
  GoodputMeter goodput();

  /// When its process began, by the clock of its timeline.
  long begunNanos();

  /// This rank among the present ones, from 0.
  int rank();

  /// How many ranks there are at present.
  int size();

  /// The present ranks by the numbers with which the job began, ascending.
  List<Integer> members();

  /// How often the job has shrunk.
  long epoch();

  /// What happens when a rank is lost.
  OnFailure onFailure();

  /// Goes on with the ranks that are left, which do the same: the others are out, and `rank`,
  /// `size`, `members` and `communicator` speak of those that are left. Graphs that were built on
  /// the communicator go on with the next one. Throws `CommException` if that cannot be done.
  void shrink() throws InterruptedException;

  /// Threads that compute here; with one number, a rank adds in one order.
  int threads();

  /// The job as the ranks have joined it. A job of one rank is never asked.
  Weft weft();

  /// The communicator of all present ranks. A job of one rank is never asked.
  Communicator communicator();

  /// Tells `observer` of all operations of this rank, until `unobserve`.
  void observe(OperationObserver observer);

  /// Tells it nothing more.
  void unobserve(OperationObserver observer);

  /// Scheme of the transport; "none" for one rank.
  String transport();

  /// Bytes that this rank has exchanged with others so far: sent to them, or read and written where
  /// it maps their memory.
  long bytesSent();
}
