// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.session;

import io.weft.rendezvous.RendezvousKey;
import io.weft.tensorflow.partition.GraphCall;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/// A call of the whole graph, divided among the tasks, which know it by its number.
///
/// @param number the number sent to the tasks
/// @param whole the requested call
/// @param own the part of the client's task; null if it has none
/// @param others the parts of other tasks, by rank
record PreparedCall(
    int number, GraphCall whole, @Nullable PartCall own, SortedMap<Integer, GraphCall> others) {

  /// A tensor fetched from another task.
  ///
  /// @param fetch its index among the fetches of the whole call
  record Remote(int fetch, RendezvousKey key) {}

  /// Returns the fetches of other tasks in this step.
  List<Remote> remoteFetches(Map<Integer, TensorNames> names, long step) {
    List<Remote> all = new ArrayList<>();
    others.forEach(
        (rank, call) -> {
          TensorNames at = names.get(rank);
          if (at != null) {
            List<RendezvousKey> keys = at.fetches(call.fetches(), step);
            for (int i = 0; i < keys.size(); i++) {
              int place = whole.fetches().indexOf(call.fetches().get(i));
              all.add(new Remote(place, keys.get(i)));
            }
          }
        });
    return all;
  }
}
