// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import io.weft.Weft;
import io.weft.agent.AgentConfig;
import io.weft.agent.IdleStrategy;
import io.weft.agent.Ticker;
import io.weft.cluster.channel.IncomingRequest;
import io.weft.cluster.channel.RequestChannel;
import io.weft.cluster.channel.RequestHandler;
import io.weft.comm.CommException;
import io.weft.kv.frame.KvHead;
import io.weft.kv.frame.KvReply;
import io.weft.kv.server.ReplyMemory;
import io.weft.kv.server.ShardContext;
import io.weft.kv.server.ShardThread;
import io.weft.kv.table.MemoryBudget;
import io.weft.transport.limit.Span;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/// The server's side of a parameter server on this rank: its shards, each owned by one of its
/// threads. Made by `KeyValue.over`. Any thread.
public final class KvServer implements AutoCloseable {

  private final Layout layout;
  private final Set<Integer> workersHere;
  private final List<ShardThread> threads = new ArrayList<>();
  private final ExecutorService files;
  private final int self;

  KvServer(Weft weft, Layout layout) {
    this.layout = layout;
    this.self = weft.rank();
    this.workersHere = new HashSet<>(layout.workers());
    this.files =
        Executors.newSingleThreadExecutor(
            Thread.ofPlatform().daemon().name("weft-checkpoint-" + weft.rank()).factory());
    var context =
        new ShardContext(
            weft.rank(),
            layout.workers(),
            new MemoryBudget(weft.config().required(KvConfig.MEMORY)),
            new ReplyMemory(
                KeyValue.staging(weft),
                weft.config().required(KvConfig.REPLY_MEMORY),
                layout.workers().size()),
            weft.config().required(KvConfig.LIST_MEMORY),
            files);
    int count = layout.threads();
    for (int i = 0; i < count; i++) {
      int thread = i;
      List<Integer> shards =
          layout.shardsOf(weft.rank()).stream()
              .filter(it -> layout.threadOf(it) == thread)
              .toList();
      threads.add(
          new ShardThread(
              "weft-shards-" + weft.rank() + "-" + i,
              shards,
              context,
              (layout.workers().size() + 1) * RequestChannel.MAX_OPEN,
              idle(weft, count)));
    }
    threads.forEach(ShardThread::start);
    weft.channel().serve(layout.kind(), new Handler());
  }

  private static IdleStrategy idle(Weft weft, int count) {
    IdleStrategy idle =
        IdleStrategy.forRunner(
            Ticker.SYSTEM, weft.localSize() * (1 + count), weft.localProcessors());
    var spin = weft.config().required(AgentConfig.SPIN);
    return spin.isPresent() ? idle.spinning(spin.getAsInt()) : idle;
  }

  private final class Handler implements RequestHandler {
    @Override
    public void onRequest(IncomingRequest request) {
      serve(request);
    }

    @Override
    public void onPeerGone(int rank, CommException cause) {
      leave(rank);
    }
  }

  /// A request of a worker, also of this process. Any thread; puts it into its shard's queue.
  ///
  /// Hot path.
  void serve(IncomingRequest request) {
    KvHead head;
    try {
      head = KvHead.read(request.head());
      if (!layout.isOn(head.shard(), self)) {
        throw new IllegalArgumentException(
            "shard "
                + head.shard()
                + " of "
                + layout.shards()
                + " is not on rank "
                + self
                + "; all ranks need the same servers, kv-shards and kv-threads");
      }
    } catch (IllegalArgumentException wrong) {
      request.reply(KvReply.refused(String.valueOf(wrong.getMessage())).encode());
      return;
    }
    threads
        .get(layout.threadOf(head.shard()))
        .serve(request, head, layout.positionOf(head.shard()));
  }

  private void leave(int rank) {
    for (ShardThread each : threads) {
      each.leave(rank);
    }
    synchronized (this) {
      workersHere.remove(rank);
      notifyAll();
    }
  }

  /// Waits until all workers on other ranks have left or are lost; whether they have within
  /// `limit`.
  public synchronized boolean join(Duration limit) throws InterruptedException {
    long end = Ticker.SYSTEM.nanos() + Span.nanos(limit);
    while (workersHere.stream().anyMatch(it -> it != self)) {
      long left = end - Ticker.SYSTEM.nanos();
      if (left <= 0) {
        return false;
      }
      wait(Math.max(1, left / 1_000_000));
    }
    return true;
  }

  /// Ends its threads; requests that come later are refused.
  @Override
  public void close() {
    threads.forEach(ShardThread::close);
    files.shutdown();
  }
}
