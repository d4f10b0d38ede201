// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.partition;

import java.util.List;

/// The request of one run of a graph, or of a part of it, as in `Session.run`.
///
/// @param feeds tensors that the caller provides, as `node:0` or `node`
/// @param fetches tensors that the caller receives
/// @param targets nodes that run for their side effects
public record GraphCall(List<String> feeds, List<String> fetches, List<String> targets) {

  /// Copies the lists.
  public GraphCall {
    feeds = List.copyOf(feeds);
    fetches = List.copyOf(fetches);
    targets = List.copyOf(targets);
  }
}
