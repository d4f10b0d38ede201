// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.sentinel;

import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;

/// The differences of the ranks' weights; equal on all ranks.
///
/// @param lastGoodStep step of the last check without a difference; 0 = the beginning
/// @param firstBadStep step of the first check with a difference
/// @param tensors tensors that differ now
public record Divergence(long lastGoodStep, long firstBadStep, List<Difference> tensors) {

  /// Copies the list.
  public Divergence {
    tensors = List.copyOf(tensors);
  }

  /// A tensor that differs.
  ///
  /// @param tensor its name
  /// @param ranks ranks whose content differs from the reference, ascending
  /// @param reference lowest rank with the content of the most ranks
  /// @param majority certainty of the reference
  public record Difference(String tensor, List<Integer> ranks, int reference, Majority majority) {
    /// Copies the list.
    public Difference {
      Objects.requireNonNull(tensor, "tensor");
      Objects.requireNonNull(majority, "majority");
      ranks = List.copyOf(ranks);
    }
  }

  /// The certainty of the reference.
  public enum Majority {
    /// More ranks have the reference's content than any other content.
    CLEAR,
    /// Another content is on an equal number of ranks; the reference is the side of the lowest
    /// rank.
    TIE
  }

  /// Returns the divergence in words, on one line.
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
