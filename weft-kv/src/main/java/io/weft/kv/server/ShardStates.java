// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;

/// The shards that a server serves, those that have a complete mirror, and the running functions.
/// The shards' threads publish this state, and any thread may read it.
public final class ShardStates {

  private final Set<Integer> served = new ConcurrentSkipListSet<>();
  private final Set<Integer> mirrored = new ConcurrentSkipListSet<>();

  private final Map<Integer, Call> calls = new ConcurrentHashMap<>();

  /// A function that runs on a shard.
  ///
  /// @param words a description of the function and its caller
  /// @param sinceNanos when it began
  public record Call(int shard, String words, long sinceNanos) {}

  private final ServerEvents events;

  /// Creates the state without shards.
  ///
  /// @param events the operations of this server for its observers
  public ShardStates(ServerEvents events) {
    this.events = events;
  }

  /// Returns the operations of this server for its observers.
  public ServerEvents events() {
    return events;
  }

  void begin(Call call) {
    calls.put(call.shard(), call);
  }

  void end(int shard) {
    calls.remove(shard);
  }

  /// Returns the running functions. Each occupies the thread of its shard.
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

  /// Returns the shards that are served.
  public Set<Integer> served() {
    return Set.copyOf(served);
  }

  /// Returns the served shards that have a complete mirror.
  public Set<Integer> mirrored() {
    return Set.copyOf(mirrored);
  }
}
