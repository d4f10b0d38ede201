// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/// What every decoder of foreign bytes must do: take its whole corpus, the resources
/// `fuzz/TARGET/*`, and then new inputs for a while, and end each as documented. System properties:
/// `weft.fuzz.seconds` for each target, `weft.fuzz.seed`, `weft.fuzz.target` (only this one),
/// `weft.fuzz.corpus` (directory of corpora to write what was learned to), `weft.fuzz.replay` (one
/// input in hexadecimal, and nothing else).
public abstract class FuzzContract {

  private static final System.Logger LOG = System.getLogger(FuzzContract.class.getName());
  private static final String SECONDS = "weft.fuzz.seconds";
  private static final String SEED = "weft.fuzz.seed";
  private static final String TARGET = "weft.fuzz.target";
  private static final String CORPUS = "weft.fuzz.corpus";
  private static final String REPLAY = "weft.fuzz.replay";

  private static final Duration LOOK = Duration.ofMillis(100);

  /// An input seen under way so often hangs, however loaded the machine is.
  private static final int HANG_LOOKS = 600;

  private static final long REPORT_NANOS = TimeUnit.SECONDS.toNanos(60);

  private final List<Class<? extends FuzzTarget>> targets;
  private final double secondsEach;

  /// Fuzzes these targets for so long each, unless the properties say otherwise.
  protected FuzzContract(List<Class<? extends FuzzTarget>> targets, double secondsEach) {
    this.targets = targets;
    this.secondsEach = Double.parseDouble(System.getProperty(SECONDS, "" + secondsEach));
  }

  @TestFactory
  Stream<DynamicTest> everyInputEndsAsDocumented() {
    var loader = new CoverageLoader(getClass().getClassLoader());
    String only = System.getProperty(TARGET, "");
    return targets.stream()
        .map(type -> instance(loader, type))
        .filter(target -> only.isEmpty() || only.equals(target.name()))
        .map(target -> DynamicTest.dynamicTest(target.name(), () -> fuzz(target)));
  }

  private static FuzzTarget instance(ClassLoader loader, Class<? extends FuzzTarget> type) {
    try {
      return (FuzzTarget) loader.loadClass(type.getName()).getDeclaredConstructor().newInstance();
    } catch (ReflectiveOperationException broken) {
      throw new IllegalStateException(type + " is no target of the fuzzer", broken);
    }
  }

  private void fuzz(FuzzTarget target) throws InterruptedException {
    var fuzzer = new Fuzzer(target, Long.getLong(SEED, 1));
    String replay = System.getProperty(REPLAY);
    Runnable work =
        replay == null
            ? () -> explore(target, fuzzer)
            : () -> fuzzer.consider(HexFormat.of().parseHex(replay));
    Thread thread = Thread.ofPlatform().daemon().name("fuzz-" + target.name()).unstarted(work);
    var death = new Throwable[1];
    thread.setUncaughtExceptionHandler((ended, cause) -> death[0] = cause);
    thread.start();
    watch(thread, fuzzer);
    LOG.log(System.Logger.Level.INFO, fuzzer::toString);
    assertThat(death[0]).as("the fuzzer itself").isNull();
    assertThat(fuzzer.findings()).as("findings of target " + target.name()).isEmpty();
  }

  private void explore(FuzzTarget target, Fuzzer fuzzer) {
    fuzzer.start(stored(target));
    long start = System.nanoTime();
    long limit = (long) (secondsEach * 1e9);
    fuzzer.run(() -> System.nanoTime() - start >= limit);
    String corpora = System.getProperty(CORPUS);
    if (corpora != null) {
      new CorpusFiles(Path.of(corpora, target.name())).write(fuzzer.corpus().distilled());
    }
  }

  private List<byte[]> stored(FuzzTarget target) {
    URL directory = getClass().getResource("/fuzz/" + target.name());
    return directory == null ? List.of() : new CorpusFiles(path(directory)).read();
  }

  private static Path path(URL directory) {
    try {
      return Path.of(new URI(directory.toString()));
    } catch (URISyntaxException impossible) {
      throw new IllegalStateException(directory.toString(), impossible);
    }
  }

  /// Waits for the end, says now and then how far it is, and finds inputs that hang.
  private static void watch(Thread thread, Fuzzer fuzzer) throws InterruptedException {
    long reported = System.nanoTime();
    byte @Nullable [] before = null;
    int looks = 0;
    while (!thread.join(LOOK)) {
      byte[] running = fuzzer.trial().running();
      looks = running != null && running == before ? looks + 1 : 0;
      before = running;
      if (running != null && looks == HANG_LOOKS) {
        throw new AssertionError(
            thread.getName()
                + " hangs at "
                + HexFormat.of().formatHex(running)
                + "\n"
                + Arrays.toString(thread.getStackTrace()));
      }
      if (System.nanoTime() - reported > REPORT_NANOS) {
        reported = System.nanoTime();
        LOG.log(System.Logger.Level.INFO, fuzzer::toString);
      }
    }
  }
}
