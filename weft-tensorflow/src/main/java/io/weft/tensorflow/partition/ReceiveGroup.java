// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.partition;

import io.weft.tensorflow.cluster.Task;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// Receives that one request may ask for: of one source, one destination and one level. None
/// depends on another of them, not even through other groups that also wait for all their members:
/// whatever depends on a receive has a higher level. And on a machine where each op that computes
/// and each transfer takes the same time, all members are ready at the same moment, so none waits
/// for another. [FUSERECV: "same recv device and same send device", no deadlock, overlap by
/// topology]
///
/// @param number position among all groups of the partition, from 0
/// @param source where the tensors come from
/// @param destination where they go
/// @param level of all members
/// @param transfers the members, by number; at least one
public record ReceiveGroup(
    int number, Task source, Task destination, int level, List<Transfer> transfers) {

  private record Key(Task source, Task destination, int level) {}

  private static final Comparator<Key> ORDER =
      Comparator.comparing(Key::destination)
          .thenComparing(Key::source)
          .thenComparingInt(Key::level);

  /// The same with those of its transfers that have one of these numbers, perhaps none.
  ReceiveGroup only(Set<Integer> numbers) {
    return new ReceiveGroup(
        number,
        source,
        destination,
        level,
        transfers.stream().filter(transfer -> numbers.contains(transfer.number())).toList());
  }

  /// The groups of all these transfers, by destination, source and level.
  static List<ReceiveGroup> of(List<Transfer> transfers) {
    Map<Key, List<Transfer>> members = new LinkedHashMap<>();
    for (Transfer transfer : transfers) {
      members
          .computeIfAbsent(
              new Key(transfer.source(), transfer.destination(), transfer.level()),
              key -> new ArrayList<>())
          .add(transfer);
    }
    List<ReceiveGroup> groups = new ArrayList<>();
    members.keySet().stream()
        .sorted(ORDER)
        .forEach(
            key ->
                groups.add(
                    new ReceiveGroup(
                        groups.size(),
                        key.source,
                        key.destination,
                        key.level,
                        List.copyOf(members.getOrDefault(key, List.of())))));
    return List.copyOf(groups);
  }
}
