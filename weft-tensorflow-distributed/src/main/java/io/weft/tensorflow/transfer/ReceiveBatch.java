// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.transfer;

import java.util.List;

/// The receives of one group that a call needs; one request asks for all of them.
///
/// @param source rank of the task that sends
/// @param edges of the transfers, as in the nodes' attributes; at least two
public record ReceiveBatch(int source, List<String> edges) {

  /// Copies the list.
  public ReceiveBatch {
    edges = List.copyOf(edges);
  }
}
