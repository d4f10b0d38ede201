// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.session;

import io.weft.rendezvous.Edge;
import io.weft.rendezvous.RendezvousKey;
import java.util.List;
import java.util.stream.IntStream;

/// The rendezvous keys of a step's feeds to, and fetches from, another task.
///
/// @param session its name on all tasks
/// @param client rank of the client
/// @param server rank of the other task
record TensorNames(String session, int client, int server) {

  private static final int MAX_CHARACTERS = Edge.MAX_NAME_BYTES / 4;

  /// Returns the keys of feeds from the client.
  List<RendezvousKey> feeds(List<String> names, long step) {
    return keys(client, server, "feed", names, step);
  }

  /// Returns the keys of fetches to the client.
  List<RendezvousKey> fetches(List<String> names, long step) {
    return keys(server, client, "fetch", names, step);
  }

  /// Includes the index, because names are truncated and may have equal beginnings.
  private List<RendezvousKey> keys(
      int source, int destination, String what, List<String> names, long step) {
    return IntStream.range(0, names.size())
        .mapToObj(i -> key(source, destination, what + "/" + i + "/" + names.get(i), step))
        .toList();
  }

  private RendezvousKey key(int source, int destination, String name, long step) {
    String whole = session + "/" + name;
    String text = whole.substring(0, Math.min(whole.length(), MAX_CHARACTERS));
    return RendezvousKey.of(new Edge(source, 0, destination, text), step);
  }
}
