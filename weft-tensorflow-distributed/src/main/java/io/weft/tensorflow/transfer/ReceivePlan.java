// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.transfer;

import io.weft.rendezvous.Edge;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// The receives of a part's call that share requests. Immutable.
public final class ReceivePlan {

  private final List<List<Edge>> groups = new ArrayList<>();
  private final Map<Edge, GroupPlace> places = new HashMap<>();

  /// The position of a receive.
  record GroupPlace(int group, int member) {}

  /// @param together all groups; other receives use separate requests
  public ReceivePlan(GraphPart part, List<ReceiveBatch> together) {
    for (ReceiveBatch group : together) {
      List<Edge> edges =
          group.edges().stream().map(edge -> part.incoming(group.source(), edge)).toList();
      for (int member = 0; member < edges.size(); member++) {
        places.put(edges.get(member), new GroupPlace(groups.size(), member));
      }
      groups.add(edges);
    }
  }

  Map<Edge, GroupPlace> places() {
    return places;
  }

  List<List<Edge>> groups() {
    return groups;
  }
}
