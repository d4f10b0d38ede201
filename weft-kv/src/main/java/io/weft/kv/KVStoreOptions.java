// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import io.weft.kv.rule.UpdateRules;
import io.weft.kv.spec.Consistency;
import java.util.Objects;

/// What a `KVStore` is; the same on all ranks.
///
/// @param servers how many of the first ranks are servers, at least 1
/// @param consistency of everything in it: `synchronous` is MXNet's `dist_sync`, `asynchronous` its
///   `dist_async`
/// @param optimizer what servers do with a push, such as `sgd:lr=0.1`
/// @param compression how gradients of dense tensors travel from a host to the servers, such as
///   `int8` or `2bit:threshold=0.5`; `none` = as they are. What is left out stays on the host and
///   is added to its next push (`CompressedPushes`)
public record KVStoreOptions(
    int servers, Consistency consistency, String optimizer, String compression) {

  /// Throws `IllegalArgumentException` with what is wrong.
  public KVStoreOptions {
    if (servers < 1) {
      throw new IllegalArgumentException(servers + " servers; at least 1");
    }
    var unusedRule = UpdateRules.parse(optimizer);
    var unusedCompression = PushCompression.parse(compression);
  }

  /// Synchronous, gradients added to the values, without compression.
  public static KVStoreOptions servers(int count) {
    return new KVStoreOptions(count, Consistency.synchronous(), "sum", "none");
  }

  /// The same with another consistency.
  public KVStoreOptions with(Consistency other) {
    Objects.requireNonNull(other, "other");
    return new KVStoreOptions(servers, other, optimizer, compression);
  }

  /// The same with another optimizer.
  public KVStoreOptions withOptimizer(String rule) {
    return new KVStoreOptions(servers, consistency, rule, compression);
  }

  /// The same with fewer bits on the wire (`set_gradient_compression`).
  public KVStoreOptions withCompression(String text) {
    return new KVStoreOptions(servers, consistency, optimizer, text);
  }
}
