// SPDX-License-Identifier: Apache-2.0
package io.weft.property;

import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// Checks a property of code many times with randomly drawn arguments. The message of a failed try
/// names its seed and the drawn arguments; `-Dweft.test.seed=N` runs this try alone.
///
///     Property.check(300, draw -> sumEqualsPlainLoop(draw.between(0, 5000), draw.seed()));
///
/// Other modules use this class from the test jar of this module.
public final class Property {

  private Property() {}

  /// A check that draws its arguments from `draw`, in the same order in each try.
  @FunctionalInterface
  public interface Check {

    /// Throws if the property does not hold.
    void run(Draw draw) throws Exception;
  }

  /// Runs `check` with the arguments of `tries` seeds, on the caller's thread. Throws
  /// `AssertionError` at the first try that throws, with its cause.
  public static void check(int tries, Check check) {
    check(tries, Long.getLong("weft.test.seed"), RandomGenerator.getDefault(), check);
  }

  /// Runs `check` once with the seed `given`, or with `tries` seeds from `seeds` if it is null.
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
