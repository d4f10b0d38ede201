// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.fuzz;

import io.weft.transport.limit.Span;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// One target, fuzzed on a thread of its own and watched from the caller's: says now and then how
/// far it is, and counts an input that hangs as a finding.
final class Campaign {

  private static final Duration LOOK = Duration.ofMillis(100);

  /// An input seen under way so often hangs, however loaded the machine is.
  private static final int HANG_LOOKS = 600;

  private final FuzzTarget target;
  private final Fuzzer fuzzer;
  private final Duration period;
  private final Consumer<String> progress;
  private final long startNanos = System.nanoTime();
  private final List<FuzzFinding> hanging = new ArrayList<>();

  /// `progress` gets a line each `period`, and one at the end.
  Campaign(FuzzTarget target, long seed, Duration period, Consumer<String> progress) {
    this.target = target;
    this.fuzzer = new Fuzzer(target, seed);
    this.period = period;
    this.progress = progress;
  }

  /// Fuzzes for so long, from the target's seeds and these inputs.
  void explore(List<byte[]> stored, Duration time) throws InterruptedException {
    watch(
        () -> {
          fuzzer.start(stored);
          long start = System.nanoTime();
          fuzzer.run(() -> System.nanoTime() - start >= Span.nanos(time));
        });
  }

  /// Runs one input and nothing else.
  void replay(byte[] input) throws InterruptedException {
    watch(() -> fuzzer.consider(input));
  }

  List<FuzzFinding> findings() {
    return hanging.isEmpty() ? fuzzer.findings() : hanging;
  }

  /// Whether the thread is lost in an input, so that nothing else may be fuzzed in this process.
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
      if (System.nanoTime() - reported > Span.nanos(period)) {
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
            + " s; it is at "
            + Arrays.toString(thread.getStackTrace()));
  }

  /// "frame: 120000 runs, 40213 a second, 312 edges, 41 inputs, 0 findings".
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
