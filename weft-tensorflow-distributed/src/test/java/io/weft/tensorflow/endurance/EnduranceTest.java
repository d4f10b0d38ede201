// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.endurance;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Checks short runs of `tools/endurance`.
class EnduranceTest {

  @Tag("lab")
  @ParameterizedTest
  @CsvSource({"SMALL, tcp, 2000", "CANCELLED, shm, 400"})
  void stepsLeaveNothingAndMemoryIsLevel(Options.Work work, String transport, int steps)
      throws Exception {
    assumeTrue(Files.isDirectory(Path.of("/proc/self")), "needs /proc to look at memory");
    var printed = new ByteArrayOutputStream();
    boolean right =
        new LongRun(
                Options.usual(work).steps(steps).over(transport),
                new PrintStream(printed, true, UTF_8))
            .run();
    String text = printed.toString(UTF_8);
    assertThat(right).as(text).isTrue();
    assertThat(text)
        .contains("after    " + " ".repeat(4 - ("" + steps).length()) + steps + " steps")
        .contains("ps: holds nothing")
        .contains("worker: holds nothing");
  }

  @Tag("lab")
  @Test
  void growthOfMemoryIsReported() throws Exception {
    var printed = new ByteArrayOutputStream();
    Options nothing =
        Options.parse(List.of("small", "--steps", "10", "--tensors", "1", "--growth", "-1000"));
    assertThat(new LongRun(nothing, new PrintStream(printed, true, UTF_8)).run()).isFalse();
    assertThat(printed.toString(UTF_8)).contains("server: ").contains("MORE than -1000");
  }

  @Tag("lab")
  @Test
  void partsAreTimedWithAndWithoutTheirWatch() throws Exception {
    var printed = new ByteArrayOutputStream();
    WatchCost.run(200, new PrintStream(printed, true, UTF_8));
    assertThat(printed.toString(UTF_8))
        .matches("20 turns of 10 steps .*: with its watch [0-9.]+ us, without [0-9.]+ us; .*\\R");
  }

  @ParameterizedTest
  @CsvSource({
    "'', what is to be run",
    "large, no work 'large'",
    "small --steps, --steps needs a value",
    "small --steps x, '--steps is a number, not ''x'''",
    "small --steps 9, 9 steps",
    "small --transport udp, no transport 'udp'",
    "small --speed 9, no option '--speed'"
  })
  void wrongArgumentsAreReported(String words, String message) {
    List<String> all = words.isEmpty() ? List.of() : List.of(words.split(" ", -1));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Options.parse(all))
        .withMessageContaining(message);
  }
}
