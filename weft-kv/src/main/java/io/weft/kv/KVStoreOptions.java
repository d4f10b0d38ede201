// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import io.weft.kv.rule.UpdateRules;
import io.weft.kv.spec.Consistency;

/// What a `KVStore` is; the same on all ranks.
///
/// @param servers how many of the first ranks are servers, at least 1
/// @param consistency of everything in it: `synchronous` is MXNet's `dist_sync`, `asynchronous` its
///   `dist_async`
/// @param optimizer what servers do with a push, such as `sgd:lr=0.1`
/// @param wire how gradients travel to the servers
public record KVStoreOptions(int servers, Consistency consistency, String optimizer, Wire wire) {

  /// How gradients of dense tensors travel from a host to the servers.
  public enum Wire {
    /// As they are.
    FLOAT32,
    /// In 16 bits. What rounding leaves out stays on the host and is added to its next push.
    FLOAT16
  }

  /// Throws `IllegalArgumentException` with what is wrong.
  public KVStoreOptions {
    if (servers < 1) {
      throw new IllegalArgumentException(servers + " servers; at least 1");
    }
    var unused = UpdateRules.parse(optimizer);
  }

  /// Synchronous, gradients added to the values, in 32 bits.
  public static KVStoreOptions servers(int count) {
    return new KVStoreOptions(count, Consistency.synchronous(), "sum", Wire.FLOAT32);
  }

  /// The same with another consistency.
  public KVStoreOptions with(Consistency other) {
    return new KVStoreOptions(servers, other, optimizer, wire);
  }

  /// The same with another optimizer.
  public KVStoreOptions withOptimizer(String rule) {
    return new KVStoreOptions(servers, consistency, rule, wire);
  }

  /// The same with other bits on the wire.
  public KVStoreOptions with(Wire other) {
    return new KVStoreOptions(servers, consistency, optimizer, other);
  }
}
