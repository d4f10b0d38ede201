// SPDX-License-Identifier: Apache-2.0
package io.weft.spark;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.cluster.LaunchEnvironment;
import io.weft.comm.CommException;
import java.io.PrintWriter;
import java.io.Serial;
import java.io.Serializable;
import java.io.StringWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.SparkEnv;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The work of a task: it meets the other tasks of the stage, joins the job as a rank, runs the
/// program, and leaves.
final class RankTask<T, R extends Serializable> implements Serializable {

  @Serial private static final long serialVersionUID = 1L;
  private static final Logger LOG = LoggerFactory.getLogger(RankTask.class);

  /// The first character of a task's message in the exchange at the start.
  private static final char FAILED = '!';

  private static final char STARTS = '@';

  /// The time for which rank 0 serves the store after a failure, so that the others read its cause.
  private static final Duration AFTER_FAILURE = Duration.ofSeconds(5);

  private final JobSpec job;
  private final RankBody<T, R> body;
  private final JobCounters counters;

  RankTask(JobSpec job, RankBody<T, R> body, JobCounters counters) {
    this.job = job;
    this.body = body;
    this.counters = counters;
  }

  /// Runs on the task's thread. Throws the network's failure if a peer is lost, so that Spark may
  /// run the stage again.
  RankOutcome run(Iterator<T> partition) throws Exception {
    BarrierTaskContext task = BarrierTaskContext.get();
    int rank = task.partitionId();
    int size = task.getTaskInfos().length;
    var place =
        new SparkRank.Place(
            SparkEnv.get().executorId(),
            SparkEnv.get().blockManager().blockManagerId().host(),
            task.stageAttemptNumber(),
            Math.max(1, task.cpus()));
    String self = "rank %d on executor %s (%s)".formatted(rank, place.executor(), place.host());
    JavaFlags.warnOfMissing();
    Map<String, String> environment = job.environment(System.getenv());
    WeftConfig config = null;
    StoreMeeting store = null;
    String said;
    try {
      config = job.config(environment, System.getProperties());
      store = new StoreMeeting(config, environment, job.name(place.attempt()), rank, size);
      said = STARTS + (rank == 0 ? store.serve(place.host()) : "");
    } catch (CommException.Setup refused) {
      said = FAILED + self + ": " + refused.getMessage();
    }
    try {
      String[] all = task.allGather(said);
      Optional<RankOutcome> refused = refused(all, rank);
      if (refused.isPresent() || store == null || config == null) {
        return refused.orElseThrow();
      }
      LaunchEnvironment launch = store.meet(all[0].substring(1));
      return join(new Meeting(task, store, self), config, launch, environment, partition, place);
    } finally {
      if (store != null) {
        store.close();
      }
    }
  }

  /// Returns this rank's outcome if a rank could not start.
  private static Optional<RankOutcome> refused(String[] said, int rank) {
    List<String> all = new ArrayList<>();
    int first = -1;
    for (int other = said.length - 1; other >= 0; other--) {
      if (said[other].charAt(0) == FAILED) {
        first = other;
        all.addFirst(said[other].substring(1));
      }
    }
    return all.isEmpty()
        ? Optional.empty()
        : Optional.of(
            first == rank
                ? new RankOutcome.Failed(rank, all.getFirst(), String.join("\n", all))
                : new RankOutcome.Stopped(rank, first));
  }

  /// @param self the rank in words
  private record Meeting(BarrierTaskContext task, StoreMeeting store, String self) {}

  private RankOutcome join(
      Meeting meeting,
      WeftConfig config,
      LaunchEnvironment launch,
      Map<String, String> environment,
      Iterator<T> partition,
      SparkRank.Place place)
      throws Exception {
    RankOutcome outcome = null;
    try (Weft weft = Weft.init(config, launch, environment)) {
      LOG.info(
          "{} of {} joined over {}, attempt {}",
          meeting.self(),
          weft.size(),
          weft.transport(),
          place.attempt());
      TaskEnd.watch(meeting.task(), weft);
      var progress = new RankProgress(weft, counters);
      outcome = run(new SparkRank<>(weft, partition, place, progress), meeting);
      progress.countBytes();
      return outcome;
    } finally {
      boolean completed = outcome instanceof RankOutcome.Completed;
      meeting.store().end(completed ? config.deadline() : AFTER_FAILURE);
    }
  }

  private RankOutcome run(SparkRank<T> rank, Meeting meeting) throws Exception {
    var lost = new AtomicReference<@Nullable CommException>();
    rank.weft().onFailure(cause -> lost.compareAndSet(null, cause));
    try {
      return new RankOutcome.Completed(rank.rank(), body.run(rank));
    } catch (Exception | LinkageError | AssertionError | StackOverflowError thrown) {
      return outcome(thrown, lost.get(), meeting, rank.rank());
    }
  }

  /// Returns the outcome of a rank whose program threw an exception, or throws it if a peer was
  /// lost. The rank is still in its job, so that the others learn of its end afterwards.
  private static RankOutcome outcome(
      Throwable thrown, @Nullable CommException lost, Meeting meeting, int rank) throws Exception {
    meeting.task().killTaskIfInterrupted();
    Optional<Integer> failed = meeting.store().failed();
    if (failed.isPresent() && failed.get() != rank) {
      return new RankOutcome.Stopped(rank, failed.get());
    }
    if (lost == null && !(thrown instanceof CommException)) {
      meeting.store().tellFailure();
      var trace = new StringWriter();
      thrown.printStackTrace(new PrintWriter(trace));
      return new RankOutcome.Failed(rank, meeting.self() + ": " + words(thrown), trace.toString());
    }
    if (thrown instanceof Exception exception) {
      throw exception;
    }
    throw new IllegalStateException(meeting.self() + ": " + words(thrown), thrown);
  }

  private static String words(Throwable thrown) {
    String message = thrown.getMessage();
    return thrown instanceof IllegalArgumentException && message != null
        ? message
        : thrown.toString();
  }
}
