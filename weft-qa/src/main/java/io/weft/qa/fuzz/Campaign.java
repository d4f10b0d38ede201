// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.fuzz;

import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The fuzzing of one target on a separate thread. The caller's thread watches it, reports its
/// progress periodically, and counts an input that hangs as a finding.
final class Campaign {

  private static final Duration LOOK = Duration.ofMillis(100);

  /// The number of consecutive looks after which an input hangs, even on a loaded machine.
  private static final int HANG_LOOKS = 600;

  private final FuzzTarget target;
  private final Fuzzer fuzzer;
  private final Duration period;
  private final Consumer<String> progress;
  private final long startNanos = System.nanoTime();
  private final List<FuzzFinding> hanging = new ArrayList<>();

  /// Creates a campaign. `progress` receives a line each `period`, and one at the end.
  Campaign(FuzzTarget target, long seed, Duration period, Consumer<String> progress) {
    this.target = target;
    this.fuzzer = new Fuzzer(target, seed);
    this.period = period;
    this.progress = progress;
  }

  /// Fuzzes for `time`, beginning with the target's seeds and the `stored` inputs.
  void explore(List<byte[]> stored, Duration time) throws InterruptedException {
    watch(
        () -> {
          fuzzer.start(stored);
          long start = System.nanoTime();
          fuzzer.run(() -> System.nanoTime() - start >= ClampedDuration.nanos(time));
        });
  }

  /// Runs only this input.
  void replay(byte[] input) throws InterruptedException {
    watch(() -> fuzzer.consider(input));
  }

  List<FuzzFinding> findings() {
    return hanging.isEmpty() ? fuzzer.findings() : hanging;
  }

  /// Returns true if the thread hangs in an input, after which this process must not fuzz any more.
  boolean hangs() {
    return !hanging.isEmpty();
  }

  Corpus corpus() {
    return fuzzer.corpus();
  }

  long runs() {
    return fuzzer.trial().executions();
  }

  private void watch(Runnable work) throws InterruptedException {
    Thread thread = Thread.ofPlatform().daemon().name("fuzz-" + target.name()).unstarted(work);
    var death = new Throwable[1];
    thread.setUncaughtExceptionHandler((ended, cause) -> death[0] = cause);
    thread.start();
    long reported = System.nanoTime();
    byte @Nullable [] before = null;
    int looks = 0;
    while (!hangs() && !thread.join(LOOK)) {
      byte[] running = fuzzer.trial().running();
      looks = running != null && running == before ? looks + 1 : 0;
      before = running;
      if (running != null && looks == HANG_LOOKS) {
        hanging.add(new FuzzFinding(target.name(), running, hang(thread)));
      }
      if (System.nanoTime() - reported > ClampedDuration.nanos(period)) {
        reported = System.nanoTime();
        progress.accept(toString());
      }
    }
    progress.accept(toString());
    if (death[0] != null) {
      throw new IllegalStateException("the fuzzer itself failed at " + target.name(), death[0]);
    }
  }

  private static Excess hang(Thread thread) {
    return new Excess(
        "not done after "
            + LOOK.multipliedBy(HANG_LOOKS).toSeconds()
            + " s; its stack: "
            + Arrays.toString(thread.getStackTrace()));
  }

  /// Returns a line such as "frame: 120000 runs, 40213 a second, 312 edges, 41 inputs, 0 findings".
  @Override
  public String toString() {
    long millis = Math.max(1, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos));
    return "%s: %d runs, %d a second, %d edges, %d inputs, %d findings"
        .formatted(
            target.name(),
            runs(),
            runs() * 1000 / millis,
            corpus().edges(),
            corpus().entries().size(),
            findings().size());
  }
}
