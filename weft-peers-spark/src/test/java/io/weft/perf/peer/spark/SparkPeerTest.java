// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.peer.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.perf.PerfCommand;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/// Checks sums over two executors, in turn with Weft's ranks.
@Tag("long")
class SparkPeerTest {

  @TempDir private Path directory;

  @Test
  @Timeout(300)
  void sumsOfTwoSizesAreChecked() throws Exception {
    StringWriter err = new StringWriter();
    Path figures = directory.resolve("figures.jsonl");
    int code =
        new CommandLine(new PerfCommand())
            .setOut(new PrintWriter(new StringWriter()))
            .setErr(new PrintWriter(err))
            .execute(
                "allreduce",
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
                "spark");
    assertThat(code).as(err.toString()).isZero();
    assertThat(Files.readAllLines(figures))
        .hasSize(4)
        .allMatch(line -> line.contains("\"checked\":true"))
        .filteredOn(line -> line.contains("\"peer\":\"spark 4.2.0"))
        .hasSize(2);
  }
}
