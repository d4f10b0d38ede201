// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import io.weft.kv.rule.UpdateRules;
import io.weft.kv.spec.Consistency;
import java.util.Objects;

/// The options of a `KVStore`. Equal on all ranks.
///
/// @param servers the number of servers, which are the first ranks; at least 1
/// @param consistency of all tensors and tables: `synchronous` is MXNet's `dist_sync`,
///   `asynchronous` its `dist_async`
/// @param optimizer the update rule that servers apply to a push, such as `sgd:lr=0.1`
/// @param compression the format in which a host sends gradients of dense tensors to the servers,
///   such as `int8` or `2bit:threshold=0.5`; `none` = FLOAT32. The residual stays on the host and
///   is added to its next push (`CompressedPushes`)
public record KVStoreOptions(
    int servers, Consistency consistency, String optimizer, String compression) {

  /// Throws `IllegalArgumentException` with the invalid value.
  public KVStoreOptions {
    if (servers < 1) {
      throw new IllegalArgumentException(servers + " servers; at least 1");
    }
    var unusedRule = UpdateRules.parse(optimizer);
    var unusedCompression = PushCompression.parse(compression);
  }

  /// Returns synchronous options that add gradients to the values, without compression.
  public static KVStoreOptions servers(int count) {
    return new KVStoreOptions(count, Consistency.synchronous(), "sum", "none");
  }

  /// Returns a copy with another consistency.
  public KVStoreOptions with(Consistency other) {
    Objects.requireNonNull(other, "other");
    return new KVStoreOptions(servers, other, optimizer, compression);
  }

  /// Returns a copy with another optimizer.
  public KVStoreOptions withOptimizer(String rule) {
    return new KVStoreOptions(servers, consistency, rule, compression);
  }

  /// Returns a copy with compressed gradients (`set_gradient_compression`).
  public KVStoreOptions withCompression(String text) {
    return new KVStoreOptions(servers, consistency, optimizer, text);
  }
}
