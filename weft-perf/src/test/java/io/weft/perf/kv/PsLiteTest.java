// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.kv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.perf.kv.KvPlan.Op;
import io.weft.perf.kv.KvPlan.Subject;
import io.weft.perf.process.PerfException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/// Checks the parsing of ps-lite's output, and the messages when its program is missing or fails.
/// Programs that do nothing replace it here.
@Timeout(60)
class PsLiteTest {

  @TempDir private Path directory;

  private static KvPlan plan(Op op) {
    return new KvPlan(op, new Subject.Tensor(1024), 1, 1, 1, 1, 50);
  }

  private static List<String> said(String mode, int bytes, String... rates) {
    StringBuilder said = new StringBuilder();
    said.append("[10:31:12] tests/test_benchmark.cc:338: 1 servers in total\n");
    said.append(
        "[10:31:12] tests/test_benchmark.cc:268: ========= %s mode =========\n".formatted(mode));
    said.append(
        "[10:31:12] tests/test_benchmark.cc:269: ========= msg_size=%d bytes =========\n"
            .formatted(bytes));
    for (String rate : rates) {
      said.append(
          "[10:31:12] tests/test_benchmark.cc:322: [0]\tApplication goodput: %s Gbps.\tAvg latency = 193.2 ns per key\n"
              .formatted(rate));
    }
    return said.toString().lines().toList();
  }

  @Test
  void theTimeOfARequestIsComputedFromEachRate() {
    assertThat(PsLite.nanos(said("PUSH_ONLY", 4096, "0.5", "32.768", "1e-05"), plan(Op.PUSH)))
        .containsExactly(65_536, 1000, 3_276_800_000L);
    assertThat(PsLite.nanos(said("PULL_ONLY", 4096), plan(Op.PULL))).isEmpty();
    assertThat(PsLite.nanos(said("PUSH_PULL", 4096, "1"), plan(Op.PUSHPULL))).hasSize(1);
  }

  @ParameterizedTest
  @CsvSource({
    "PULL_ONLY, 4096, 1, 'it measures PULL_ONLY, not PUSH_ONLY'",
    "PUSH_ONLY, 16384, 1, 'its values have 16384 bytes, not 4096'",
    "PUSH_ONLY, 4096, inf, is not a rate",
    "PUSH_ONLY, 4096, 0, is not a rate",
    "PUSH_ONLY, 4096, fast, is not a rate"
  })
  void outputOfAnotherCaseIsRefused(String mode, int bytes, String rate, String message) {
    assertThatThrownBy(() -> PsLite.nanos(said(mode, bytes, rate), plan(Op.PUSH)))
        .isInstanceOf(PerfException.Failed.class)
        .hasMessageContaining(message);
  }

  private Path program(String script) throws Exception {
    Path program = directory.resolve("test_benchmark");
    Files.writeString(program, "#!/bin/sh\n" + script + "\n");
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
    return program;
  }

  @Test
  void anAbsentOrUnusableProgramIsReportedAsMissing() throws Exception {
    Path none = directory.resolve("none");
    assertThatThrownBy(() -> PsLite.at(none).prepare())
        .isInstanceOf(PerfException.Missing.class)
        .hasMessageContaining(none.toString())
        .hasMessageContaining("there is no file")
        .hasMessageContaining("make test");
    Path text = Files.writeString(directory.resolve("text"), "no program");
    Files.setPosixFilePermissions(text, Set.of());
    for (Path each : List.of(text, directory)) {
      assertThatThrownBy(() -> PsLite.at(each).prepare())
          .isInstanceOf(PerfException.Missing.class)
          .hasMessageContaining("not an executable program");
    }
    var err = new StringWriter();
    int code =
        new CommandLine(new KvCommand())
            .setErr(new PrintWriter(err))
            .execute("--value", "64", "--peer", "ps-lite", "--ps-lite", none.toString());
    assertThat(code).isEqualTo(3);
    assertThat(err.toString()).contains("there is no file");
  }

  @Test
  void aProgramThatEndsAtOnceIsReportedWithItsMessage() throws Exception {
    PsLite peer = PsLite.at(program("echo role $DMLC_ROLE of $1 bytes cannot bind >&2; exit 134"));
    peer.prepare();
    assertThatThrownBy(() -> peer.run(plan(Op.PUSH), Duration.ofSeconds(20)))
        .isInstanceOf(PerfException.Failed.class)
        .hasMessageContaining("has ended")
        .hasMessageContaining("of 4096 bytes cannot bind");
  }

  @Test
  void aSilentProgramIsGivenUpAfterTheLimit() throws Exception {
    PsLite peer = PsLite.at(program("exec sleep 1000"));
    assertThatThrownBy(() -> peer.run(plan(Op.PUSH), Duration.ofSeconds(1)))
        .isInstanceOf(PerfException.Failed.class)
        .hasMessageContaining("0 of 70 requests within 1 s")
        .hasMessageContaining("--limit")
        .hasMessageContaining("it printed nothing");
  }

  @ParameterizedTest
  @ValueSource(strings = {"--pairs 1000", "--value 64 --window 4", "--value 64 --workers 1,2"})
  void unsupportedCasesAreRefused(String words) {
    var err = new StringWriter();
    String all = words + " --peer ps-lite --ps-lite /bin/true";
    int code =
        new CommandLine(new KvCommand()).setErr(new PrintWriter(err)).execute(all.split(" "));
    assertThat(code).isEqualTo(2);
    assertThat(err.toString()).contains("one request of one value at a");
  }
}
