// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.session;

import io.weft.rendezvous.Edge;
import io.weft.rendezvous.RendezvousKey;
import java.util.List;
import java.util.stream.IntStream;

/// Where what a step feeds to another task, or fetches from one, meets.
///
/// @param session its name on all tasks
/// @param client rank of the client
/// @param server rank of the other task
record TensorNames(String session, int client, int server) {

  private static final int MAX_CHARACTERS = Edge.MAX_NAME_BYTES / 4;

  /// From the client.
  List<RendezvousKey> feeds(List<String> names, long step) {
    return keys(client, server, "feed", names, step);
  }

  /// To the client.
  List<RendezvousKey> fetches(List<String> names, long step) {
    return keys(server, client, "fetch", names, step);
  }

  /// The place makes names differ whose beginnings are the same.
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
