// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.local;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/// The division of tensors among fragments. Pure.
final class Fragments {

  private Fragments() {}

  /// Assigns whole tensors, the longest first, each to the fragment that has the fewest elements
  /// [GRAHAM69 §5]. Of equal fragments, the one with fewer tensors is chosen, then the one with the
  /// lower index. The length of each fragment is at most that of the shortest one plus the longest
  /// tensor. Throws `IllegalArgumentException` if a fragment would have no tensor.
  ///
  /// @param elements elements of each tensor
  /// @return indices of the tensors of each fragment, ascending
  static List<List<Integer>> cut(List<Long> elements, int fragments) {
    if (fragments > elements.size()) {
      throw new IllegalArgumentException(
          "%d fragments of %d tensors: a fragment has at least one whole tensor"
              .formatted(fragments, elements.size()));
    }
    List<List<Integer>> parts = new ArrayList<>();
    for (int i = 0; i < fragments; i++) {
      parts.add(new ArrayList<>());
    }
    long[] lengths = new long[fragments];
    List<Integer> order =
        IntStream.range(0, elements.size())
            .boxed()
            .sorted(Comparator.comparing(elements::get).reversed())
            .toList();
    for (int tensor : order) {
      int least = 0;
      for (int i = 1; i < fragments; i++) {
        boolean shorter = lengths[i] < lengths[least];
        boolean emptier =
            lengths[i] == lengths[least] && parts.get(i).size() < parts.get(least).size();
        least = shorter || emptier ? i : least;
      }
      parts.get(least).add(tensor);
      lengths[least] += elements.get(tensor);
    }
    parts.forEach(Collections::sort);
    return parts.stream().map(List::copyOf).toList();
  }
}
