// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;

/// Which shards a server serves, which of them a mirror has wholly, and which functions run. Told
/// by their threads, read by any.
public final class ShardStates {

  private final Set<Integer> served = new ConcurrentSkipListSet<>();
  private final Set<Integer> mirrored = new ConcurrentSkipListSet<>();

  private final Map<Integer, Call> calls = new ConcurrentHashMap<>();

  /// A function that runs on a shard.
  ///
  /// @param words which one, of whom
  /// @param sinceNanos when it began
  public record Call(int shard, String words, long sinceNanos) {}

  /// Of no shard.
  public ShardStates() {}

  /// A function begins.
  void begin(Call call) {
    calls.put(call.shard(), call);
  }

  /// The function of a shard has ended.
  void end(int shard) {
    calls.remove(shard);
  }

  /// Functions that run now, each of which keeps the thread of its shard.
  public List<Call> calls() {
    return List.copyOf(calls.values());
  }

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
