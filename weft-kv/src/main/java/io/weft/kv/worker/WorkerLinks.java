// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.worker;

import io.weft.agent.AgentRunner;
import io.weft.cluster.channel.IncomingRequest;
import io.weft.cluster.channel.RequestChannel;
import io.weft.kv.frame.KvReply;
import io.weft.kv.worker.ShardRequest.Memory;
import io.weft.kv.worker.ShardRequest.What;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.IntUnaryOperator;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The ways of one worker to all servers. Any thread.
public final class WorkerLinks {

  private final Terms terms;
  private final AgentRunner runner;
  private final ServerLink[] byShard;

  /// What they are made by.
  ///
  /// @param rank of the worker
  /// @param kind of the requests on the channel
  /// @param shards how many there are
  /// @param inFlightBytes most that is on its way to a server
  /// @param limit how long a request may take
  public record Terms(int rank, int kind, int shards, long inFlightBytes, Duration limit) {}

  /// @param serverOf rank of the server of a shard
  /// @param local takes requests to shards of this rank; null = it has none
  public WorkerLinks(
      RequestChannel channel,
      Terms terms,
      IntUnaryOperator serverOf,
      StagingMemory staging,
      @Nullable Consumer<IncomingRequest> local) {
    this.terms = terms;
    this.runner = channel.runner();
    this.byShard = new ServerLink[terms.shards()];
    PushNumbers[] numbers = new PushNumbers[terms.shards()];
    Map<Integer, ServerLink> byServer = new HashMap<>();
    for (int shard = 0; shard < numbers.length; shard++) {
      numbers[shard] = new PushNumbers();
      byShard[shard] =
          byServer.computeIfAbsent(
              serverOf.applyAsInt(shard),
              server ->
                  new ServerLink(
                      new ServerLink.Way(
                          channel,
                          terms.kind(),
                          runner,
                          server,
                          terms.rank(),
                          server == terms.rank() ? local : null),
                      new ServerLink.Bounds(terms.inFlightBytes(), terms.limit()),
                      numbers,
                      staging));
    }
  }

  /// How many shards there are.
  public int shards() {
    return terms.shards();
  }

  /// A handle of this worker.
  ///
  /// @param words what is done
  public <T> KvHandle<T> handle(String words, Supplier<? extends @Nullable T> result) {
    return new KvHandle<>(runner, "rank " + terms.rank() + ": " + words, result);
  }

  /// Sends a request of this handle.
  void submit(
      What what, Memory memory, KvHandle<?> handle, BiConsumer<KvReply, MemorySegment> onReply)
      throws InterruptedException {
    submit(what, memory, handle, onReply, terms.limit());
  }

  /// The same of one that may take so long.
  void submit(
      What what,
      Memory memory,
      KvHandle<?> handle,
      BiConsumer<KvReply, MemorySegment> onReply,
      Duration limit)
      throws InterruptedException {
    var request = new ShardRequest(what, memory, handle, onReply);
    request.limit(limit);
    handle.add();
    try {
      byShard[what.shard()].submit(request);
    } catch (InterruptedException | RuntimeException | Error refused) {
      handle.over(null);
      throw refused;
    }
  }

  /// The same on the progress thread, which does not wait.
  void follow(
      What what, Memory memory, KvHandle<?> handle, BiConsumer<KvReply, MemorySegment> onReply) {
    handle.add();
    byShard[what.shard()].follow(new ShardRequest(what, memory, handle, onReply));
  }
}
