// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.choice;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/// The rules that decide by its length whether a tensor that is ready on all ranks shares a buffer
/// with others. Ranks and hosts are already known. Immutable.
public final class FusionRules {

  /// The first word of these lines in the table.
  static final String SUBJECT = "fusion";

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
