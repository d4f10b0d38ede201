// SPDX-License-Identifier: Apache-2.0
package io.weft;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Checks the warning about missing JVM flags in separate processes, each a whole rank, as another
/// launcher starts them.
@Timeout(60)
class MissingFlagsTest {

  /// A rank that joins by its environment and leaves.
  public static final class Rank {

    private Rank() {}

    /// Takes no arguments.
    public static void main(String[] arguments) {
      try (Weft weft = Weft.init()) {
        System.out.println("joined as " + weft.rank());
      }
    }
  }

  private static Process start(int rank, List<String> flags) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(flags);
    command.addAll(
        List.of("-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path")));
    command.add(Rank.class.getName());
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    Map<String, String> environment = builder.environment();
    environment.keySet().removeIf(name -> name.startsWith("WEFT_") || name.startsWith("JDK_JAVA"));
    environment.putAll(
        Map.of(
            "OMPI_COMM_WORLD_RANK",
            "" + rank,
            "OMPI_COMM_WORLD_SIZE",
            "2",
            "OMPI_COMM_WORLD_LOCAL_SIZE",
            "2",
            "PMIX_NAMESPACE",
            "flags-" + ProcessHandle.current().pid() + "-" + flags.size(),
            "WEFT_TRANSPORT",
            "tcp"));
    return builder.start();
  }

  /// Returns the output of both ranks.
  private static List<String> job(List<String> flags) throws Exception {
    List<Process> ranks = List.of(start(0, flags), start(1, flags));
    List<String> said = new ArrayList<>();
    for (Process rank : ranks) {
      said.add(new String(rank.getInputStream().readAllBytes()));
      assertThat(rank.waitFor(30, TimeUnit.SECONDS)).isTrue();
      assertThat(said.getLast()).contains("joined as");
    }
    return said;
  }

  @Test
  void onlyRankZeroWarnsAndNamesTheFlag() throws Exception {
    List<String> said = job(List.of());
    assertThat(said.get(0)).containsOnlyOnce("--add-modules jdk.incubator.vector");
    assertThat(said.get(1)).doesNotContain("jdk.incubator.vector");
  }

  @Test
  void noRankWarnsIfTheFlagIsGiven() throws Exception {
    assertThat(job(List.of("--add-modules", "jdk.incubator.vector")))
        .noneMatch(text -> text.contains("--add-modules"));
  }
}
