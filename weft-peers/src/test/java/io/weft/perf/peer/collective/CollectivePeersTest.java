// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.peer.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.weft.perf.PerfCommand;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/// Checks allreduces of other libraries in separate JVMs, in turn with Weft's ranks.
@Timeout(300)
class CollectivePeersTest {

  private static final int MISSING = 3;

  @TempDir private Path directory;
  private final StringWriter err = new StringWriter();

  private int run(String... words) {
    return new CommandLine(new PerfCommand())
        .setOut(new PrintWriter(new StringWriter()))
        .setErr(new PrintWriter(err))
        .execute(words);
  }

  private List<String> measured(String peer, int ranks) throws Exception {
    Path figures = directory.resolve("figures.jsonl");
    int code =
        run(
            "allreduce",
            "-np",
            Integer.toString(ranks),
            "--bytes",
            "4,64K",
            "--rounds",
            "1",
            "--iterations",
            "6",
            "--warm-up",
            "1",
            "--json",
            figures.toString(),
            "--peer",
            peer);
    assumeThat(code).as(err.toString()).isNotEqualTo(MISSING);
    assertThat(code).as(err.toString()).isZero();
    return Files.readAllLines(figures);
  }

  @ParameterizedTest
  @CsvSource({"javacpp-gloo, javacpp-gloo 2.10.0", "xgboost, xgboost 3.4.0"})
  void sumsOfTwoSizesAreChecked(String peer, String name) throws Exception {
    assertThat(measured(peer, 2))
        .hasSize(4)
        .allMatch(line -> line.contains("\"checked\":true"))
        .filteredOn(line -> line.contains("\"peer\":\"" + name))
        .hasSize(2);
  }

  @Tag("long")
  @ParameterizedTest
  @CsvSource({"javacpp-gloo", "xgboost"})
  void sumsOfThreeRanksAreChecked(String peer) throws Exception {
    assertThat(measured(peer, 3)).hasSize(4).allMatch(line -> line.contains("\"checked\":true"));
  }
}
