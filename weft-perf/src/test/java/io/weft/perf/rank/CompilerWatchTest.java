// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.rank;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class CompilerWatchTest {

  private final CompilerWatch watch = new CompilerWatch();

  /// This JVM has compiled some code before the test.
  @Tag("lab")
  @Test
  void compilersHaveWorked() {
    assertThat(watch.nanos()).isBetween(1L, Duration.ofDays(1).toNanos());
  }

  @Test
  void timeDoesNotRunBackwards() {
    long before = watch.nanos();
    for (int i = 0; i < 20; i++) {
      long now = watch.nanos();
      assertThat(now).isGreaterThanOrEqualTo(before);
      before = now;
    }
  }

  @Tag("lab")
  @Test
  void theWaitForIdleCompilersIsBounded() throws InterruptedException {
    long begin = System.nanoTime();
    watch.awaitRest(TimeUnit.MILLISECONDS.toNanos(50));
    assertThat(Duration.ofNanos(System.nanoTime() - begin))
        .isBetween(Duration.ofMillis(20), Duration.ofSeconds(30));
  }
}
