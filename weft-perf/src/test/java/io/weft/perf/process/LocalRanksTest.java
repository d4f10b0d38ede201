// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.weft.cluster.SecureMode;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

final class LocalRanksTest {

  private static final Duration LONG = Duration.ofSeconds(30);
  private static final LocalRanks RANKS = new LocalRanks(Reporter.class, 2, 1L << 24);

  /// A rank that prints its number, and fails or stays if its argument requests that.
  static final class Reporter {

    private Reporter() {}

    public static void main(String[] arguments) throws InterruptedException {
      Map<String, String> variables = System.getenv();
      String rank = variables.get("WEFT_RANK");
      System.out.println(
          rank + " of " + variables.get("WEFT_SIZE") + " by " + variables.get("WEFT_TRANSPORT"));
      if (arguments[0].equals("fail-" + rank)) {
        System.err.println("rank " + rank + " gives up");
        System.exit(7);
      }
      if (arguments[0].startsWith("fail") || arguments[0].equals("stay")) {
        new CountDownLatch(1).await();
      }
    }
  }

  @Test
  void theOutputOfRankZeroIsReturned() throws InterruptedException {
    assertThat(RANKS.run("tcp", SecureMode.AUTO, List.of("speak"), LONG)).contains("0 of 2 by tcp");
  }

  @Test
  void theFirstRankToFailIsNamedAndTheOthersAreEnded() {
    assertThatExceptionOfType(PerfException.Failed.class)
        .isThrownBy(() -> RANKS.run("tcp", SecureMode.AUTO, List.of("fail-1"), LONG))
        .withMessageContaining("rank 1 on localhost failed: exit code 7")
        .withMessageContaining("rank 1 gives up");
    assertNoReporterIsLeft();
  }

  @Test
  void ranksBeyondTheirLimitAreEnded() {
    assertThatExceptionOfType(PerfException.Failed.class)
        .isThrownBy(
            () -> RANKS.run("tcp", SecureMode.AUTO, List.of("stay"), Duration.ofMillis(500)))
        .withMessageContaining("still running");
    assertNoReporterIsLeft();
  }

  private static void assertNoReporterIsLeft() {
    assertThat(ProcessHandle.current().descendants())
        .noneMatch(p -> p.info().commandLine().orElse("").contains("LocalRanksTest$Speaker"));
  }
}
