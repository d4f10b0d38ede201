// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/// Checks `weft perf` on an RDMA device, with ranks that a launcher starts and with the programs of
/// perftest: all results are present and right. Their speed is not checked.
@Tag("rdma")
@Tag("lab") // minutes where the machine is emulated
@Timeout(300)
class VerbsPerfTest {

  @TempDir private Path directory;

  @ParameterizedTest
  @CsvSource({
    "pingpong, 8, 10, perftest-send, ib_send_lat",
    "writes, 64K, 1, perftest, ib_write_bw"
  })
  void ranksAreMeasuredTogetherWithPerftest(
      String what, String bytes, int iterations, String peers, String program) throws Exception {
    Path json = directory.resolve("figures.jsonl");
    String table = perf(json, what, bytes, iterations, "--peer", peers);
    assertThat(table).contains("weft / " + program).doesNotContain("WRONG");
    assertThat(Files.readAllLines(json))
        .hasSize(2)
        .satisfiesExactly(
            weft -> assertThat(weft).contains("\"peer\":\"weft\"", "\"checked\":true"),
            peer -> assertThat(peer).contains("\"peer\":\"" + program).doesNotContain("checked"));
  }

  private static String perf(Path json, String what, String bytes, int iterations, String... more) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine command =
        new CommandLine(new PerfCommand())
            .setOut(new PrintWriter(out, true))
            .setErr(new PrintWriter(err, true));
    String[] words = {
      what,
      "--transport",
      "verbs",
      "--bytes",
      bytes,
      "--rounds",
      "1",
      "--iterations",
      Integer.toString(iterations),
      "--warm-up",
      "1",
      "--json",
      json.toString()
    };
    String[] all = java.util.Arrays.copyOf(words, words.length + more.length);
    System.arraycopy(more, 0, all, words.length, more.length);
    assertThat(command.execute(all)).as("%s%n%s", err, out).isZero();
    return out.toString();
  }
}
