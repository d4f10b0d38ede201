// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.choice;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/// Whether a tensor that is ready on all ranks shares a buffer with others, when ranks and hosts
/// are known: only its length decides. Immutable.
public final class FusionRules {

  /// What a line of the table begins with.
  static final String SUBJECT = "fusion";

  private final List<SizeRules.Range<Sharing>> ranges = new ArrayList<>();

  /// What is done with a tensor.
  enum Sharing {
    /// It is copied into a buffer with others.
    SHARED,
    /// It travels by itself, where it lies.
    ALONE;

    static Sharing named(String words) {
      return Stream.of(values())
          .filter(each -> each.name().toLowerCase(Locale.ROOT).equals(words))
          .findFirst()
          .orElseThrow(
              () ->
                  new IllegalArgumentException(
                      "'%s' says nothing of fusion; allowed: shared, alone".formatted(words)));
    }
  }

  /// Of lines that hold for these ranks, in order.
  FusionRules(List<TableLine.ForFusion> lines, int ranks) {
    for (TableLine.ForFusion line : lines) {
      ranges.add(SizeRules.Range.of(line.conditions(), ranks, line.sharing()));
    }
  }

  /// Returns whether a tensor of this length shares a buffer.
  public boolean shares(long bytes) {
    for (SizeRules.Range<Sharing> range : ranges) {
      if (range.has(bytes)) {
        return range.taken() == Sharing.SHARED;
      }
    }
    throw new IllegalStateException("a table ends with a rule that always holds");
  }
}
