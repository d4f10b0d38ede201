// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.keyvalue;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.cluster.JobConfig;
import io.weft.cluster.elastic.ElasticConfig;
import io.weft.comm.CommException;
import io.weft.kv.KvConfig;
import io.weft.kv.KvNode;
import io.weft.kv.KvOptions;
import io.weft.kv.KvServer;
import io.weft.qa.keyvalue.FaultyWorker.Counts;
import io.weft.rendezvous.RendezvousConfig;
import io.weft.testkit.sim.SimRank;
import io.weft.testkit.sim.SimReport;
import io.weft.testkit.sim.SimReport.RankResult;
import io.weft.testkit.sim.Simulation;
import io.weft.testkit.sim.network.SimLink;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.LongFunction;

/// Simulations of parameter servers with mirrors under crashes, pauses, partitions, late news of
/// losses, and processes that take the places of lost servers. All code of workers and servers is
/// production code, in virtual time.
public final class FaultyJobs implements LongFunction<List<String>> {

  private static final Duration DEADLINE = Duration.ofSeconds(3);
  private static final Duration HEARTBEAT = Duration.ofMillis(20);
  private static final Duration IDLE = Duration.ofMillis(5);
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final int MOST_JITTER_NANOS = 100_000;

  /// The memory of a rank for received requests, in bytes.
  private static final String MEMORY = "4194304";

  /// Creates a player of jobs.
  public FaultyJobs() {}

  /// Simulates the job of a seed. Returns a line for each error, empty without errors.
  @Override
  public List<String> apply(long seed) {
    try {
      FaultyJob job = FaultyJob.of(seed);
      return errors(job, play(job, 0));
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted in the job of seed " + seed, stopped);
    }
  }

  /// Simulates a job. Each worker returns the number of its pushes.
  static SimReport<Integer> play(FaultyJob job, int traceLines) throws InterruptedException {
    var counts =
        new Counts(new FaultyJobModel(job.content().rows()), new FaultyJobModel(job.workers()));
    var jitter = Duration.ofNanos(new SplittableRandom(~job.seed()).nextInt(MOST_JITTER_NANOS));
    return Simulation.of(job.ranks())
        .hosts(job.ranks())
        .seed(job.seed())
        .between(SimLink.ETHERNET.jittered(jitter))
        .faults(job.script())
        .idle(IDLE)
        .limit(LIMIT)
        .traceLines(traceLines)
        .runRanks(self -> take(job, self, counts));
  }

  private static int take(FaultyJob job, SimRank self, Counts counts) throws InterruptedException {
    WeftConfig config =
        WeftConfig.builder()
            .heartbeat(HEARTBEAT)
            .silenceLimit(FaultyJob.SILENCE)
            .startDeadline(Duration.ofSeconds(1))
            .deadline(DEADLINE)
            .set(ElasticConfig.ON_FAILURE, "shrink")
            .set(KvConfig.SHARDS, Integer.toString(job.shards()))
            .set(RendezvousConfig.MEMORY, MEMORY)
            .set(JobConfig.JOIN, Boolean.toString(self.incarnation() > 0))
            .build();
    var options = KvOptions.servers(job.servers()).withMirrors();
    try (Weft weft = self.join(config);
        KvNode kv = KvNode.open(weft, options, KvServer.RunBy.PROGRAM)) {
      return kv.serve() ? 0 : new FaultyWorker(job, self, kv.worker(), counts).run();
    }
  }

  /// Returns a line for each error of a run: a rank that hangs, a wrong row, and a failure of a
  /// rank that no fault harmed.
  static List<String> errors(FaultyJob job, SimReport<Integer> report) {
    List<String> wrong = new ArrayList<>();
    for (RankResult<Integer> outcome : report.outcomes()) {
      boolean mayFail =
          job.harm().ranks().contains(outcome.rank())
              || (job.harm().losesShards() && outcome.rank() >= job.servers());
      check(outcome, mayFail, wrong);
    }
    for (RankResult<Integer> outcome : report.restarts()) {
      check(outcome, true, wrong);
    }
    return wrong;
  }

  private static void check(RankResult<Integer> outcome, boolean mayFail, List<String> wrong) {
    switch (outcome) {
      case RankResult.Returned<Integer> _ -> {}
      case RankResult.Died<Integer>(int rank, String why) -> {
        if (!mayFail) {
          wrong.add("rank " + rank + " died: " + why);
        }
      }
      case RankResult.Hung<Integer>(int rank, String where) ->
          wrong.add("rank " + rank + " hangs: " + where);
      case RankResult.Threw<Integer>(int rank, Throwable cause) -> {
        if (!mayFail || !(cause instanceof CommException)) {
          wrong.add("rank " + rank + " failed: " + cause);
        }
      }
    }
  }
}
