// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.cluster.channel.RequestChannel;
import io.weft.kv.spec.Replicas;
import io.weft.tensor.TensorLease;
import java.time.Duration;
import java.util.function.LongFunction;

/// The connection of a server's shards to their mirrors.
///
/// @param replicas the servers of each shard
/// @param channel carries the forwarded requests
/// @param kind of its requests
/// @param staging memory that a mirror can read
/// @param limit how long a mirror may take to answer
public record Mirroring(
    Replicas replicas,
    RequestChannel channel,
    int kind,
    LongFunction<TensorLease> staging,
    Duration limit) {}
