// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.failover;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Checks that no acknowledged push is lost when server processes are killed or stopped. The
/// simulation of `tools/simulate kv-faults` covers the moments and combinations of losses; these
/// tests cover the processes and their transports.
@Timeout(240)
class FailoverTest {

  private static final Logger LOG = LoggerFactory.getLogger(FailoverTest.class);

  private static final Duration STOPPED =
      Duration.ofSeconds(Boolean.getBoolean("weft.test.long") ? 30 : 1);

  /// The seed of the moments at which servers are killed.
  private static final long SEED = Long.getLong("weft.test.seed", System.nanoTime());

  @TempDir private Path directory;

  /// Checks that every acknowledged push is stored. The deadline of the tables bounds the time.
  private static void judge(FailoverJob job, List<String> results) throws Exception {
    LOG.info("{}, seed {} (set -Dweft.test.seed)", results, SEED);
    String why = "seed " + SEED + ": " + results + "\n" + job.output();
    assertThat(FailoverJob.longestMillis(results)).as(why).isNotNegative();
  }

  @ParameterizedTest
  @CsvSource({"0, tcp", "1, shm"})
  void killingAServerLosesNoAcknowledgedPush(int server, String transport) throws Exception {
    kill(server, transport);
  }

  @Tag("long")
  @Test
  void killingTheLastServerLosesNoAcknowledgedPush() throws Exception {
    kill(2, "tcp");
  }

  private void kill(int server, String transport) throws Exception {
    try (var job = new FailoverJob(directory, 3, 2, transport, "5s")) {
      job.awaitReady();
      job.work(Duration.ofMillis(new Random(SEED).nextInt(300)));
      job.kill(server);
      job.work(Duration.ofMillis(500));
      judge(job, job.results(job.workers()));
    }
  }

  @Tag("long")
  @Test
  void aSecondServerMayBeKilledAfterTheShardsWereCopied() throws Exception {
    try (var job = new FailoverJob(directory, 3, 2, "tcp", "5s")) {
      job.awaitReady();
      job.kill(1);
      job.work(Duration.ofSeconds(4));
      job.kill(2);
      job.work(Duration.ofSeconds(1));
      judge(job, job.results(job.workers()));
    }
  }

  /// Another process takes the place of a server and serves before the next servers are killed.
  @Tag("long")
  @ParameterizedTest
  @ValueSource(strings = {"tcp", "shm"})
  void aRestartedServerTakesItsShardsBack(String transport) throws Exception {
    try (var job = new FailoverJob(directory, 3, 2, transport, "5s")) {
      job.awaitReady();
      job.kill(1);
      job.awaitMirrors(List.of(0, 2));
      int again = job.replace(1);
      job.awaitServer(again);
      job.work(Duration.ofMillis(new Random(SEED).nextInt(50)));
      job.kill(2);
      job.awaitMirrors(List.of(0, again));
      job.kill(0);
      job.work(Duration.ofSeconds(1));
      judge(job, job.results(job.workers()));
    }
  }

  @Tag("long")
  @Test
  void aStoppedServerIsLostAfterTheSilenceLimitAndAcknowledgesNothingLater() throws Exception {
    try (var job = new FailoverJob(directory, 3, 2, "tcp", "3s")) {
      job.awaitReady();
      job.signal(1, "STOP");
      job.work(Duration.ofSeconds(8));
      job.signal(1, "CONT");
      job.work(Duration.ofSeconds(1));
      judge(job, job.results(job.workers()));
    }
  }

  @Test
  void aServerStoppedForLessThanTheSilenceLimitLosesNothing() throws Exception {
    try (var job = new FailoverJob(directory, 2, 2, "tcp", "45s")) {
      job.awaitReady();
      job.signal(0, "STOP");
      job.work(STOPPED);
      job.signal(0, "CONT");
      job.work(Duration.ofMillis(300));
      List<String> results = job.results(job.workers());
      judge(job, results);
      // A reply that was in flight when the server stopped shortens the wait.
      assertThat(FailoverJob.longestMillis(results))
          .as("that it has waited for the server")
          .isGreaterThan(STOPPED.toMillis() / 2);
    }
  }

  /// The test bounds the resident memory of the servers and the wait of the other worker.
  @Tag("lab")
  @Test
  void aWorkerThatReadsNoRepliesDelaysOnlyItselfAndUsesBoundedMemory() throws Exception {
    int puller = 3;
    try (var job = new FailoverJob(directory, 2, 2, "tcp", "60s", puller)) {
      job.awaitReady();
      job.signal(puller, "STOP");
      job.work(Duration.ofSeconds(2));
      List<Long> before = List.of(job.residentBytes(0), job.residentBytes(1));
      job.work(Duration.ofSeconds(6));
      List<Long> after = List.of(job.residentBytes(0), job.residentBytes(1));
      job.signal(puller, "CONT");
      List<String> results = job.results(job.workers());
      judge(job, results);
      assertThat(FailoverJob.longestMillis(results)).isLessThan(5_000);
      for (int server = 0; server < after.size(); server++) {
        assertThat(after.get(server) - before.get(server))
            .as("more memory of server %d while answers wait: %s, %s", server, before, after)
            .isLessThan(2L * FailoverJob.REPLY_BYTES);
      }
    }
  }

  @Tag("long")
  @Test
  void aKilledWorkerDelaysNoOtherWorker() throws Exception {
    try (var job = new FailoverJob(directory, 2, 2, "tcp", "5s")) {
      job.awaitReady();
      job.kill(3);
      job.work(Duration.ofMillis(500));
      judge(job, job.results(List.of(2)));
    }
  }
}
