// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.partition;

import java.util.List;

/// What one run of a graph, or of a part of it, is asked for, as `Session.run` is.
///
/// @param feeds tensors that the caller gives, as `node:0` or `node`
/// @param fetches tensors that the caller gets
/// @param targets nodes that run for what they do
public record GraphCall(List<String> feeds, List<String> fetches, List<String> targets) {

  /// Copies the lists.
  public GraphCall {
    feeds = List.copyOf(feeds);
    fetches = List.copyOf(fetches);
    targets = List.copyOf(targets);
  }
}
