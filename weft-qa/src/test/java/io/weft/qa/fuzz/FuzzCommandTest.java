// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.planted.PlantedTarget;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Checks the fuzzer on a decoder with a known fault.
@Timeout(120)
class FuzzCommandTest {

  private static final int RUNS = 1_000_000;

  @TempDir private Path corpora;

  private final ByteArrayOutputStream said = new ByteArrayOutputStream();

  private int run(String... arguments) throws InterruptedException {
    String[] all = new String[arguments.length + 2];
    all[0] = PlantedSuite.class.getName() + "=" + corpora;
    all[1] = "--";
    System.arraycopy(arguments, 0, all, 2, arguments.length);
    said.reset();
    return FuzzCommand.run(all, new PrintStream(said, true, StandardCharsets.UTF_8));
  }

  private static Fuzzer fuzzed(long seed) {
    var loader = new CoverageLoader(FuzzCommandTest.class.getClassLoader());
    var fuzzer = new Fuzzer(loader.target(PlantedTarget.class), seed);
    fuzzer.start(List.of());
    fuzzer.run(() -> !fuzzer.findings().isEmpty() || fuzzer.trial().executions() > RUNS);
    return fuzzer;
  }

  @Test
  void theFuzzerFindsAFaultBehindAMagicNumberAndALength() {
    Fuzzer fuzzer = fuzzed(1);
    assertThat(fuzzer.findings()).hasSize(1);
    assertThat(fuzzer.findings().getFirst().failure())
        .isInstanceOf(ArrayIndexOutOfBoundsException.class);
    assertThat(fuzzer.findings().getFirst().input()).as("is shortened").hasSizeLessThan(16);
  }

  @Test
  void theSameSeedGivesTheSameRun() {
    Fuzzer one = fuzzed(5);
    Fuzzer two = fuzzed(5);
    assertThat(one.trial().executions()).isEqualTo(two.trial().executions());
    assertThat(one.findings().getFirst().input()).isEqualTo(two.findings().getFirst().input());
  }

  @Test
  void thePrintedCommandReplaysTheFinding() throws InterruptedException {
    byte[] input = fuzzed(1).findings().getFirst().input();
    String text = new FuzzFinding("planted", input, new AssertionError("x")).toString();
    Matcher line = Pattern.compile("tools/fuzz (\\S+) --replay (\\S+)").matcher(text);
    assertThat(line.find()).isTrue();
    assertThat(run(line.group(1), "--replay", line.group(2))).isEqualTo(1);
    assertThat(said.toString(StandardCharsets.UTF_8)).contains(line.group(), "planted: ");
    assertThat(run("planted", "--replay", "00")).isEqualTo(0);
  }

  @Test
  void theCorpusIsWrittenAndRead() throws InterruptedException, IOException {
    Path former = Files.createDirectories(corpora.resolve("planted")).resolve("bug-old");
    Files.write(former, new byte[] {0x7A, 0x3C, (byte) 0x91, (byte) 0xE5, 3, 0, 0, 0, 0, 0, 0});
    int unused = run("--minutes", "0.001", "--seed", "2");
    assertThat(said.toString(StandardCharsets.UTF_8))
        .containsPattern("planted: \\d+ runs, \\d+ a second, \\d+ edges, \\d+ inputs");
    CorpusFiles files = new CorpusFiles(corpora.resolve("planted"));
    List<byte[]> first = files.read();
    assertThat(first).hasSizeGreaterThan(1);
    assertThat(former).exists();
    files.write(first);
    assertThat(files.read()).as("the former failure is there once").hasSameSizeAs(first);
  }

  @Test
  void wrongCommandLinesAreExplained() throws InterruptedException {
    for (String[] wrong :
        List.of(
            new String[] {"other"},
            new String[] {"--minutes"},
            new String[] {"--minutes", "0"},
            new String[] {"--replay", "00", "--seed", "x"},
            new String[] {"--replay", "00"})) {
      assertThat(run(wrong)).as(String.join(" ", wrong)).isEqualTo(2);
      assertThat(said.toString(StandardCharsets.UTF_8)).contains("Usage: tools/fuzz [TARGET...]");
    }
    assertThat(run("--list")).isEqualTo(0);
    assertThat(said.toString(StandardCharsets.UTF_8)).isEqualTo("planted" + System.lineSeparator());
  }
}
