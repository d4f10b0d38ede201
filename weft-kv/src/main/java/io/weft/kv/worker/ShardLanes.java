// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.worker;

import io.weft.agent.AgentRunner;
import io.weft.cluster.channel.ChannelLane;
import java.util.List;
import java.util.function.IntUnaryOperator;

/// The lanes of the request channel on which the requests to shards travel. All requests to a shard
/// use one lane, so that they arrive in the order of submission. Any thread.
///
/// @param all the lanes of this rank, at least one
/// @param ofShard returns the index of a shard's lane
public record ShardLanes(List<ChannelLane> all, IntUnaryOperator ofShard) {

  /// Copies the list.
  public ShardLanes {
    all = List.copyOf(all);
  }

  /// Returns the lane of requests that concern no shard.
  ChannelLane first() {
    return all.getFirst();
  }

  /// Returns the runners of the lanes. The first one is that of the first lane.
  List<AgentRunner> runners() {
    return all.stream().map(lane -> lane.channel().runner()).toList();
  }

  /// Returns whether the calling thread is inside a lane's agent, as in a callback. It must not
  /// wait for an answer.
  boolean isInside() {
    for (ChannelLane lane : all) {
      if (lane.channel().runner().isInside()) {
        return true;
      }
    }
    return false;
  }
}
