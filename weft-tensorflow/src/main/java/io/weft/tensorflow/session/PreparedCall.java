// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.session;

import io.weft.rendezvous.RendezvousKey;
import io.weft.tensorflow.partition.GraphCall;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/// A call of the whole graph, divided among the tasks, by a number that they know.
///
/// @param number which the tasks were told
/// @param whole as it was asked for
/// @param own what the client's task does; null if nothing
/// @param others what other tasks do, by rank
record PreparedCall(
    int number, GraphCall whole, @Nullable PartCall own, SortedMap<Integer, GraphCall> others) {

  /// A tensor that comes from another task.
  ///
  /// @param fetch its place among the fetches of the whole call
  record Remote(int fetch, RendezvousKey key) {}

  /// What other tasks fetch, in this step.
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
