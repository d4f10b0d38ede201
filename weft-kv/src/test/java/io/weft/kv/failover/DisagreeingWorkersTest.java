// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.failover;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.WeftConfig;
import io.weft.cluster.store.JobIdentity;
import io.weft.cluster.store.JobTrust;
import io.weft.cluster.store.SecretFile;
import io.weft.cluster.store.TcpStoreServer;
import io.weft.testkit.job.JvmCommand;
import io.weft.transport.spi.Secret;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Checks that both worker processes learn of a push that one of many shards refuses.
@Timeout(120)
class DisagreeingWorkersTest {

  private static final String JOB = "disagreeing";
  private static final int RANKS = 4;
  private static final List<String> JVM =
      List.of(
          "--add-modules",
          "jdk.incubator.vector",
          "--enable-native-access=ALL-UNNAMED",
          "-Xmx128m",
          "-XX:TieredStopAtLevel=1");

  @TempDir private Path directory;

  /// @param joins true if the job runs already
  private Process start(int rank, Secret secret, TcpStoreServer store, boolean joins)
      throws IOException {
    var builder =
        new ProcessBuilder(JvmCommand.of(JVM, DisagreeingRank.class, directory.toString()))
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve(output(rank, joins)).toFile());
    var environment = builder.environment();
    environment.keySet().removeIf(name -> name.startsWith("WEFT_"));
    environment.put("WEFT_RANK", Integer.toString(rank));
    environment.put("WEFT_SIZE", Integer.toString(RANKS));
    environment.put("WEFT_LOCAL_RANK", Integer.toString(rank));
    environment.put("WEFT_LOCAL_SIZE", Integer.toString(RANKS));
    environment.put("WEFT_JOB", JOB);
    environment.put("WEFT_LAUNCHER", JOB);
    environment.put("WEFT_STORE", store.location());
    environment.putAll(SecretFile.variables(secret));
    environment.put("WEFT_TRANSPORT", "tcp");
    environment.put("WEFT_KV_SHARDS", "6");
    if (joins) {
      environment.put("WEFT_JOIN", "true");
    }
    return builder.start();
  }

  private static String output(int rank, boolean joins) {
    return (joins ? "joins-" : "output-") + rank;
  }

  @Test
  void bothWorkersLearnThatTheThirdPushHasEndedTheTable() throws Exception {
    Secret secret = SecretFile.random();
    List<Process> processes = new ArrayList<>();
    try (var store =
        TcpStoreServer.bind(
            InetAddress.getLoopbackAddress(),
            0,
            JobTrust.of(WeftConfig.builder().build(), secret, JobIdentity.ofName(JOB)),
            Duration.ofSeconds(90))) {
      for (int rank = 0; rank < RANKS; rank++) {
        processes.add(start(rank, secret, store, false));
      }
      for (int rank = 0; rank < RANKS; rank++) {
        assertThat(processes.get(rank).waitFor(100, TimeUnit.SECONDS)).isTrue();
        assertThat(processes.get(rank).exitValue())
            .as(Files.readString(directory.resolve(output(rank, false))))
            .isZero();
      }
      for (int rank = 2; rank < RANKS; rank++) {
        assertThat(Files.readAllLines(DisagreeingRank.result(directory, rank)))
            .hasSize(2)
            .allSatisfy(
                it ->
                    assertThat(it)
                        .contains("the table has ended", "push of clock 3 is not whole", "key 40"));
      }
      // A server that joins now learns at once, not after 60 s, that no rank is left.
      Process late = start(0, secret, store, true);
      processes.add(late);
      assertThat(late.waitFor(40, TimeUnit.SECONDS)).isTrue();
      assertThat(Files.readString(directory.resolve(output(0, true))))
          .contains("all its ranks have left or are lost, so it has ended");
    } finally {
      processes.forEach(Process::destroyForcibly);
    }
  }
}
