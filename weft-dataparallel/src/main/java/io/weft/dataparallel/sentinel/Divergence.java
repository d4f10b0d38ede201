// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.sentinel;

import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;

/// Weights that differ between ranks; the same on all ranks.
///
/// @param lastGoodStep of the last check at which all ranks had the same, 0 for the beginning
/// @param firstBadStep of the first check at which they had not
/// @param tensors that differ now
public record Divergence(long lastGoodStep, long firstBadStep, List<Difference> tensors) {

  /// Copies the list.
  public Divergence {
    tensors = List.copyOf(tensors);
  }

  /// One tensor that differs.
  ///
  /// @param tensor its name
  /// @param ranks that do not have what the most ranks have, ascending
  /// @param reference the lowest rank that has what the most ranks have
  /// @param majority whether more ranks have that than any other content
  public record Difference(String tensor, List<Integer> ranks, int reference, Majority majority) {
    /// Copies the list.
    public Difference {
      Objects.requireNonNull(tensor, "tensor");
      Objects.requireNonNull(majority, "majority");
      ranks = List.copyOf(ranks);
    }
  }

  /// How sure it is which ranks are right.
  public enum Majority {
    /// More ranks have the reference's content than any other.
    CLEAR,
    /// As many ranks have another content: the lowest rank's is taken for right.
    TIE
  }

  /// In words, a line.
  public String words() {
    return "weights differ between ranks since a step from %d to %d: %s"
        .formatted(
            lastGoodStep + 1,
            firstBadStep,
            tensors.stream().map(Divergence::words).collect(Collectors.joining("; ")));
  }

  private static String words(Difference of) {
    String ranks = of.ranks().stream().map(String::valueOf).collect(Collectors.joining(", "));
    return "'%s' on rank%s %s%s"
        .formatted(
            of.tensor(),
            of.ranks().size() == 1 ? "" : "s",
            ranks,
            of.majority() == Majority.CLEAR
                ? ""
                : " (a tie: the side of rank " + of.reference() + " is taken for right)");
  }
}
