// SPDX-License-Identifier: Apache-2.0
package io.weft.property;

import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// Checks a property of code with arguments that are drawn at random, many times. The message of a
/// try that fails names its seed and what was drawn; `-Dweft.test.seed=N` runs this one alone.
///
///     Property.check(300, draw -> sumIsWhatALoopFinds(draw.between(0, 5000), draw.seed()));
///
/// Other modules take it from this module's test jar.
public final class Property {

  private Property() {}

  /// A check that takes what it needs from `draw`, in the same order in each try.
  @FunctionalInterface
  public interface Check {

    /// Throws where the property does not hold.
    void run(Draw draw) throws Exception;
  }

  /// Runs `check` with the arguments of `tries` seeds, on the caller's thread. Throws
  /// `AssertionError` at the first try that throws, with its cause.
  public static void check(int tries, Check check) {
    check(tries, Long.getLong("weft.test.seed"), RandomGenerator.getDefault(), check);
  }

  /// Takes the seed that is given, once, or `tries` seeds from `seeds`.
  static void check(int tries, @Nullable Long given, RandomGenerator seeds, Check check) {
    int most = given == null ? tries : 1;
    for (int i = 1; i <= most; i++) {
      long seed = given == null ? seeds.nextLong() : given;
      Draw draw = new Draw(seed);
      try {
        check.run(draw);
      } catch (Exception | AssertionError failure) {
        throw new AssertionError(
            "try %d of %d, run it again with -Dweft.test.seed=%d, drew %s: %s"
                .formatted(i, most, seed, draw.drawn(), failure.getMessage()),
            failure);
      }
    }
  }
}
