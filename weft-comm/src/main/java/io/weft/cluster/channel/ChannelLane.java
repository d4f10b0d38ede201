// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.channel;

import io.weft.tensor.TensorLease;
import java.util.Objects;
import java.util.function.LongFunction;

/// One of the request channels of a rank. Each progress thread that runs the channel has a lane
/// with separate connections, which share nothing. Lanes of the same number are connected with each
/// other. Any thread.
///
/// @param channel carries the requests
/// @param memory allocates bytes, aligned to a page, that peers on this lane can access in place;
///   the caller closes the lease
public record ChannelLane(RequestChannel channel, LongFunction<TensorLease> memory) {

  /// Refuses null.
  public ChannelLane {
    Objects.requireNonNull(channel, "channel");
    Objects.requireNonNull(memory, "memory");
  }
}
