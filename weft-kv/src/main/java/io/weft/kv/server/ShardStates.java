// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;

/// Which shards a server serves, and which of them a mirror has wholly. Told by their threads, read
/// by any.
public final class ShardStates {

  private final Set<Integer> served = new ConcurrentSkipListSet<>();
  private final Set<Integer> mirrored = new ConcurrentSkipListSet<>();

  /// Of no shard.
  public ShardStates() {}

  void tell(int shard, boolean isServed, boolean isMirrored) {
    put(mirrored, shard, isMirrored);
    put(served, shard, isServed);
  }

  private static void put(Set<Integer> set, int shard, boolean in) {
    boolean unused = in ? set.add(shard) : set.remove(shard);
  }

  /// Those that are served.
  public Set<Integer> served() {
    return Set.copyOf(served);
  }

  /// Those of them that another server has wholly.
  public Set<Integer> mirrored() {
    return Set.copyOf(mirrored);
  }
}
