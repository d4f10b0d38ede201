// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.choice;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/// The rules that decide by a length whether tensors that are ready on all ranks share a buffer.
/// Ranks and hosts are already known. Immutable.
public final class FusionRules {

  /// The question that a line of the table answers; its name is the line's first word.
  public enum Subject {
    /// Whether a tensor of this length is copied into a buffer with others.
    FUSION,
    /// Whether a buffer of this length may have tensors of different priorities.
    MIXING;

    static Optional<Subject> named(String words) {
      return Stream.of(values())
          .filter(each -> each.name().toLowerCase(Locale.ROOT).equals(words))
          .findFirst();
    }
  }

  private final List<SizeRules.Range<Sharing>> ranges = new ArrayList<>();

  /// The treatment of a tensor.
  enum Sharing {
    /// The tensor is copied into a buffer with others.
    SHARED,
    /// The tensor is sent alone, from where it lies.
    ALONE;

    static Sharing named(String words) {
      return Stream.of(values())
          .filter(each -> each.name().toLowerCase(Locale.ROOT).equals(words))
          .findFirst()
          .orElseThrow(
              () ->
                  new IllegalArgumentException(
                      "'%s' is not a rule of fusion; allowed: shared, alone".formatted(words)));
    }
  }

  /// Creates the rules from the lines that match these ranks, in order.
  FusionRules(List<TableLine.ForFusion> lines, int ranks) {
    for (TableLine.ForFusion line : lines) {
      ranges.add(SizeRules.Range.of(line.conditions(), ranks, line.sharing()));
    }
  }

  /// Returns whether a tensor or buffer of this length is shared.
  public boolean shares(long bytes) {
    for (SizeRules.Range<Sharing> range : ranges) {
      if (range.has(bytes)) {
        return range.taken() == Sharing.SHARED;
      }
    }
    throw new IllegalStateException("a table ends with a rule that always holds");
  }
}
