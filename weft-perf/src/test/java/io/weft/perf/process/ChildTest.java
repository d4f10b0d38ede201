// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.weft.testkit.job.BusyCarriers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

final class ChildTest {

  private static final Duration LONG = Duration.ofSeconds(20);

  private static List<String> shell(String script) {
    return List.of("/bin/sh", "-c", script);
  }

  @Test
  void outputAndStatusAreKept() throws InterruptedException {
    Child.ChildOutput outcome = Child.run(shell("echo one; echo two; echo oh >&2; exit 4"), LONG);
    assertThat(outcome).isEqualTo(new Child.ChildOutput(4, List.of("one", "two"), List.of("oh")));
  }

  @Test
  void onlyTheLastLinesOfStandardErrorAreKept() throws InterruptedException {
    Child.ChildOutput outcome = Child.run(shell("seq 1 1000 >&2"), LONG);
    assertThat(outcome.err()).hasSize(20).endsWith("999", "1000");
  }

  @Test
  void aProgramBeyondItsLimitIsEndedWithItsChildren() throws Exception {
    Child child = Child.start(shell("sleep 600 & echo $!; wait"), Map.of());
    try (child) {
      assertThatExceptionOfType(PerfException.Failed.class)
          .isThrownBy(() -> child.await(Duration.ofMillis(300)))
          .withMessageContaining("sh was still running");
    }
    child.exited().get(10, TimeUnit.SECONDS);
    long sleeper = Long.parseLong(child.await(LONG).out().getFirst());
    ProcessHandle.of(sleeper).ifPresent(p -> p.onExit().orTimeout(10, TimeUnit.SECONDS).join());
  }

  @Test
  void aMissingProgramFails() {
    assertThatExceptionOfType(PerfException.Failed.class)
        .isThrownBy(() -> Child.run(List.of("/no/such/program"), LONG))
        .withMessageContaining("/no/such/program");
  }

  @Test
  void childrenAreNotRanksUnlessConfigured() throws InterruptedException {
    try (Child child =
        Child.start(shell("env | grep -c '^OMPI_'; echo $WEFT_RANK"), Map.of("WEFT_RANK", "3"))) {
      assertThat(child.await(LONG).out()).containsExactly("0", "3");
    }
  }

  /// A virtual thread that reads a pipe pins its carrier: two silent programs on two cores once
  /// blocked the output of a third one, and its reader, forever.
  @Test
  void outputIsReadWhileNoVirtualThreadCanRun() throws Exception {
    try (var carriers = new BusyCarriers()) {
      assertThat(carriers.count()).isPositive();
      assertThat(Child.run(shell("echo heard"), LONG).out()).containsExactly("heard");
    }
  }
}
