// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.partition;

import io.weft.tensorflow.cluster.Task;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// The receives that may share a request: those of one source, one destination and one level. A
/// member never depends on another member, not even through other groups that also wait for all
/// their members, because every dependent of a receive has a higher level. If every computing op
/// and every transfer took the same time, all members would be ready simultaneously, so none would
/// wait for another. [FUSERECV: "same recv device and same send device", no deadlock, overlap by
/// topology]
///
/// @param number position among all groups of the partition, from 0
/// @param source the task that sends the tensors
/// @param destination the task that receives them
/// @param level of all members
/// @param transfers the members, by number; at least one
public record ReceiveGroup(
    int number, Task source, Task destination, int level, List<Transfer> transfers) {

  private record Key(Task source, Task destination, int level) {}

  private static final Comparator<Key> ORDER =
      Comparator.comparing(Key::destination)
          .thenComparing(Key::source)
          .thenComparingInt(Key::level);

  /// Returns the group with only the transfers of these numbers, possibly none.
  ReceiveGroup only(Set<Integer> numbers) {
    return new ReceiveGroup(
        number,
        source,
        destination,
        level,
        transfers.stream().filter(transfer -> numbers.contains(transfer.number())).toList());
  }

  /// Returns the groups of all these transfers, by destination, source and level.
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
