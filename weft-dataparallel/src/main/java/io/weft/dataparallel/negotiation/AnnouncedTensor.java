// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.negotiation;

import io.weft.dataparallel.frame.TensorSignature;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/// A tensor that some ranks have announced, with each rank's signature. Its state is equal on all
/// ranks. Confined to one thread.
final class AnnouncedTensor {

  final String name;
  private final @Nullable TensorSignature[] by;
  private final BitSet ranks = new BitSet();

  AnnouncedTensor(String name, int size) {
    this.name = name;
    this.by = new TensorSignature[size];
  }

  /// Records a rank's announcement. Throws `IllegalStateException` if the rank has announced the
  /// tensor before.
  void announce(int rank, TensorSignature signature) {
    if (ranks.get(rank)) {
      throw new IllegalStateException(
          "rank " + rank + " has announced tensor '" + name + "' twice; its Weft is broken");
    }
    by[rank] = signature;
    ranks.set(rank);
  }

  boolean isBy(int rank) {
    return ranks.get(rank);
  }

  /// Returns true if a rank has announced the tensor in this group.
  boolean isOf(String group) {
    return bySignature().keySet().stream()
        .anyMatch(each -> each.isGrouped() && each.group().name().equals(group));
  }

  /// Returns the ranks that have neither announced the tensor nor joined.
  BitSet missing(BitSet joined) {
    BitSet missing = new BitSet();
    missing.set(0, by.length);
    missing.andNot(ranks);
    missing.andNot(joined);
    return missing;
  }

  Map<TensorSignature, List<Integer>> bySignature() {
    Map<TensorSignature, List<Integer>> ranksOf = new LinkedHashMap<>();
    for (int r = 0; r < by.length; r++) {
      TensorSignature signature = by[r];
      if (signature != null) {
        ranksOf.computeIfAbsent(signature, s -> new ArrayList<>()).add(r);
      }
    }
    return ranksOf;
  }

  /// Returns the signatures of all ranks in words.
  String disagreement(IntFunction<String> describe) {
    StringJoiner words = new StringJoiner("; ");
    bySignature()
        .forEach((signature, of) -> words.add(names(of, describe) + ": " + signature.words()));
    return "tensor '"
        + name
        + "': ranks disagree: "
        + words
        + "; make the calls equal on all ranks, the reducer works on";
  }

  static String names(List<Integer> ranks, IntFunction<String> describe) {
    StringJoiner names = new StringJoiner(", ");
    ranks.forEach(rank -> names.add(describe.apply(rank)));
    return names.toString();
  }
}
