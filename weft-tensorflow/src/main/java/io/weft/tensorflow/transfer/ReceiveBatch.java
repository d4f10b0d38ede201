// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.transfer;

import java.util.List;

/// Receives of one group that a call has: one request asks for all of them.
///
/// @param source rank of the task that sends
/// @param edges of the transfers, as the nodes have them; at least two
public record ReceiveBatch(int source, List<String> edges) {

  /// Copies the list.
  public ReceiveBatch {
    edges = List.copyOf(edges);
  }
}
