// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.local;

import io.weft.dataparallel.compress.Compression;
import java.util.Objects;

/// How local SGD goes; the same on all ranks.
///
/// @param every how many steps between two exchanges of a tensor, H; at least 1
/// @param fragments into how many parts the weights are cut, which are exchanged one after the
///   other; 1 to `every`
/// @param delay how many steps after the start of its exchange a fragment takes the result, while
///   training goes on; 0 waits at once; below `every`
/// @param bits of an element of the outer gradient on the wire: 32, 8 or 4
/// @param outer optimizer
public record LocalSgdOptions(int every, int fragments, int delay, int bits, OuterOptimizer outer) {

  /// Throws `IllegalArgumentException` for what is not allowed.
  public LocalSgdOptions {
    if (every < 1) {
      throw new IllegalArgumentException("an exchange every " + every + " steps; at least 1");
    }
    if (fragments < 1 || fragments > every) {
      throw new IllegalArgumentException(
          "%d fragments with an exchange every %d steps; 1 to %d are possible"
              .formatted(fragments, every, every));
    }
    if (delay < 0 || delay >= every) {
      throw new IllegalArgumentException(
          "a delay of %d steps with an exchange every %d steps; 0 to %d are possible"
              .formatted(delay, every, every - 1));
    }
    if (bits != 32 && bits != 8 && bits != 4) {
      throw new IllegalArgumentException(bits + " bits of an element; 32, 8 or 4 are possible");
    }
  }

  /// Whole, in 32 bits, with Nesterov momentum, and a delay of one step where there is one.
  public static LocalSgdOptions every(int steps) {
    return new LocalSgdOptions(steps, 1, Math.min(1, steps - 1), 32, OuterOptimizer.NESTEROV);
  }

  /// The same in so many fragments.
  public LocalSgdOptions inFragments(int count) {
    return new LocalSgdOptions(every, count, delay, bits, outer);
  }

  /// The same with another delay.
  public LocalSgdOptions after(int steps) {
    return new LocalSgdOptions(every, fragments, steps, bits, outer);
  }

  /// The same with so many bits of an element.
  public LocalSgdOptions inBits(int count) {
    return new LocalSgdOptions(every, fragments, delay, count, outer);
  }

  /// The same with another outer optimizer.
  public LocalSgdOptions by(OuterOptimizer other) {
    Objects.requireNonNull(other, "other");
    return new LocalSgdOptions(every, fragments, delay, bits, other);
  }

  /// How outer gradients travel.
  Compression compression() {
    return bits == 32 ? new Compression.None() : new Compression.Quantized(bits);
  }

  /// Steps after which a fragment is exchanged: the first time after this one, then every `every`.
  ///
  /// @param fragment from 0, which is exchanged at the multiples of `every`
  int offset(int fragment) {
    return fragment == 0 ? every : (int) ((long) fragment * every / fragments);
  }
}
