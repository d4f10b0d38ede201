// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Jobs of real processes with the setting `auto`, of which some can share no memory: those talk
/// over TCP, the others use memory among themselves, and all agree on who does what.
@Timeout(300)
class MixedAutoTest {

  private static final String CLASS_PATH = System.getProperty("java.class.path");
  private static final int SECONDS = 120;

  /// Files so long as shared memory needs are forbidden.
  private static final List<String> NO_MEMORY =
      List.of("sh", "-c", "ulimit -f 64 && exec \"$@\"", "sh");

  @Test
  void whoCanShareNoMemoryTalksOverTcpAmongThoseWhoCan() throws Exception {
    List<String> said = job(List.of(List.of(), List.of(), NO_MEMORY));
    assertThat(said.get(0)).contains("rank 0 by shm, all " + sums(6) + ", pair " + sums(3));
    assertThat(said.get(0)).contains("in memory", "all again " + sums(6));
    assertThat(said.get(1)).contains("rank 1 by shm, all " + sums(6), "in memory");
    assertThat(said.get(2))
        .contains("rank 2 by shm, all " + sums(6) + ", all again " + sums(6))
        .containsPattern("node 2 talks to node [01] over TCP: memory cannot be shared here")
        .contains("raise 'ulimit -f'");
  }

  @Test
  void whereTheFirstCanShareNoneTheJobRunsToo() throws Exception {
    List<String> said = job(List.of(NO_MEMORY, List.of(), List.of()));
    assertThat(said.get(0)).contains("pair " + sums(3) + " by wire", "all again " + sums(6));
    assertThat(said.get(1)).contains("pair " + sums(3) + " by wire", "all again " + sums(6));
    assertThat(said.get(2)).contains("all again " + sums(6));
  }

  private static String sums(int each) {
    return List.of(each, each, each, each).toString();
  }

  /// What each rank says, started by the command that stands before it.
  private static List<String> job(List<List<String>> before)
      throws IOException, InterruptedException {
    int port;
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    List<Process> ranks = new ArrayList<>();
    try {
      for (int rank = 0; rank < before.size(); rank++) {
        List<String> command = new ArrayList<>(before.get(rank));
        command.addAll(EchoProcess.java(CLASS_PATH, AutoProcess.class));
        // Without it the JVM itself writes a longer file.
        command.add(command.size() - 1, "-XX:-UsePerfData");
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder
            .environment()
            .putAll(
                Map.of(
                    "WEFT_RANK",
                    "" + rank,
                    "WEFT_SIZE",
                    "" + before.size(),
                    "WEFT_STORE",
                    "127.0.0.1:" + port,
                    "WEFT_SECRET",
                    "0123456789abcdef0123456789abcdef",
                    "WEFT_TRANSPORT",
                    "auto",
                    "WEFT_BIND",
                    "127.0.0.1"));
        ranks.add(builder.start());
      }
      List<String> said = new ArrayList<>();
      for (Process rank : ranks) {
        said.add(new String(rank.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
        assertThat(rank.waitFor(SECONDS, TimeUnit.SECONDS)).as(said.getLast()).isTrue();
        assertThat(rank.exitValue()).as(said.getLast()).isZero();
      }
      return said;
    } finally {
      ranks.forEach(Process::destroy);
    }
  }
}
