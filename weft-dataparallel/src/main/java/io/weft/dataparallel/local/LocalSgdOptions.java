// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.local;

import io.weft.dataparallel.compress.Compression;
import java.util.Objects;

/// The options of local SGD; equal on all ranks.
///
/// @param every steps from one exchange of a tensor to the next, H; at least 1
/// @param fragments number of parts of the weights, which are exchanged in turn; 1 to `every`
/// @param delay steps from the start of a fragment's exchange until its result is applied, while
///   training continues; 0 = the step waits for the result; less than `every`
/// @param bits bits of an element of the outer gradient on the wire: 32, 8 or 4
/// @param outer the outer optimizer
public record LocalSgdOptions(int every, int fragments, int delay, int bits, OuterOptimizer outer) {

  /// Throws `IllegalArgumentException` for an option outside its range.
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

  /// Returns options with one fragment, 32 bits, Nesterov momentum, and a delay of one step if
  /// `steps` is more than 1.
  public static LocalSgdOptions every(int steps) {
    return new LocalSgdOptions(steps, 1, Math.min(1, steps - 1), 32, OuterOptimizer.NESTEROV);
  }

  /// Returns these options with this number of fragments.
  public LocalSgdOptions inFragments(int count) {
    return new LocalSgdOptions(every, count, delay, bits, outer);
  }

  /// Returns these options with another delay.
  public LocalSgdOptions after(int steps) {
    return new LocalSgdOptions(every, fragments, steps, bits, outer);
  }

  /// Returns these options with this number of bits per element.
  public LocalSgdOptions inBits(int count) {
    return new LocalSgdOptions(every, fragments, delay, count, outer);
  }

  /// Returns these options with another outer optimizer.
  public LocalSgdOptions by(OuterOptimizer other) {
    Objects.requireNonNull(other, "other");
    return new LocalSgdOptions(every, fragments, delay, bits, other);
  }

  Compression compression() {
    return bits == 32 ? new Compression.None() : new Compression.Quantized(bits);
  }

  /// Returns the step of a fragment's first exchange; later ones follow every `every` steps.
  ///
  /// @param fragment index of the fragment; fragment 0 is exchanged at the multiples of `every`
  int offset(int fragment) {
    return fragment == 0 ? every : (int) ((long) fragment * every / fragments);
  }
}
