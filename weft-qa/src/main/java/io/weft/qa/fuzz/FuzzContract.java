// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/// The contract of every decoder of foreign bytes. It must handle its whole corpus, the resources
/// `fuzz/TARGET/*`, and then new inputs for a limited time, each as documented. The system property
/// `weft.fuzz.seed` sets the seed. `FuzzCommand` fuzzes the same targets for longer.
public abstract class FuzzContract {

  private static final System.Logger LOG = System.getLogger(FuzzContract.class.getName());
  private static final String SEED = "weft.fuzz.seed";
  private static final Duration PERIOD = Duration.ofMinutes(1);
  private static final Duration EACH =
      Duration.ofMillis(Boolean.getBoolean("weft.test.long") ? 2500 : 1000);

  private final List<Class<? extends FuzzTarget>> targets;

  /// Creates a contract for these targets.
  protected FuzzContract(List<Class<? extends FuzzTarget>> targets) {
    this.targets = targets;
  }

  List<Class<? extends FuzzTarget>> targets() {
    return targets;
  }

  @TestFactory
  Stream<DynamicTest> everyInputEndsAsDocumented() {
    var loader = new CoverageLoader(getClass().getClassLoader());
    return targets.stream()
        .map(loader::target)
        .map(target -> DynamicTest.dynamicTest(target.name(), () -> fuzz(target)));
  }

  private void fuzz(FuzzTarget target) throws InterruptedException {
    var campaign =
        new Campaign(
            target, Long.getLong(SEED, 1), PERIOD, line -> LOG.log(System.Logger.Level.INFO, line));
    campaign.explore(stored(target), EACH);
    assertThat(campaign.findings()).as("findings of target " + target.name()).isEmpty();
  }

  private List<byte[]> stored(FuzzTarget target) {
    URL directory = getClass().getResource("/fuzz/" + target.name());
    assertThat(directory)
        .as("no corpus of %s; create one with 'tools/fuzz %1$s --minutes 1'", target.name())
        .isNotNull();
    return new CorpusFiles(path(directory)).read();
  }

  private static Path path(URL directory) {
    try {
      return Path.of(new URI(directory.toString()));
    } catch (URISyntaxException impossible) {
      throw new IllegalStateException(directory.toString(), impossible);
    }
  }
}
