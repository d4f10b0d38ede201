// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.worker;

import io.weft.cluster.channel.Request;
import io.weft.cluster.channel.RequestChannel;
import io.weft.cluster.channel.RequestOutcome;
import io.weft.comm.CommException;
import io.weft.kv.event.OperationNames;
import io.weft.kv.event.TableOperation;
import io.weft.kv.frame.KvHead;
import io.weft.kv.frame.KvOp;
import io.weft.kv.frame.KvReply;
import io.weft.observer.ObservedOperation.Service;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import org.jspecify.annotations.Nullable;

/// The requests to the servers from a process that takes the place of a lost one. User thread.
public final class ReturnRequests {

  private final RequestChannel channel;
  private final int kind;
  private final int rank;
  private final Duration limit;

  /// @param kind of the requests on the channel
  /// @param rank of the process
  /// @param limit how long a server may take to answer
  public ReturnRequests(RequestChannel channel, int kind, int rank, Duration limit) {
    this.channel = channel;
    this.kind = kind;
    this.rank = rank;
    this.limit = limit;
  }

  /// Returns the lost servers among these. Throws the failure of a server that is not lost.
  public Set<Integer> lost(Collection<Integer> servers) throws InterruptedException {
    return ask(servers, 0);
  }

  /// Tells these servers which place in the replica set this process takes. Servers that are lost
  /// during this are ignored.
  public void tell(Collection<Integer> servers, int place) throws InterruptedException {
    Set<Integer> unused = ask(servers, place + 1);
  }

  private Set<Integer> ask(Collection<Integer> servers, int part) throws InterruptedException {
    Set<Integer> lost = new ConcurrentSkipListSet<>();
    var operation =
        new TableOperation(
            channel.events(),
            new TableOperation.Subject(
                Service.KV_SERVER, OperationNames.NO_TABLE.of(KvOp.RETURN), "", 0, 0),
            TableOperation.NO_PEER);
    operation.begun();
    var handle =
        new KvHandle<>(
            List.of(channel.runner()),
            "rank " + rank + ": to take the place of a server",
            operation,
            () -> lost,
            null);
    MemorySegment head = MemorySegment.ofArray(new byte[KvHead.BYTES]);
    new KvHead(
            KvOp.RETURN, new KvHead.Target(0, 0, part, 0), KvHead.Progress.NONE, KvHead.Listed.NONE)
        .write(head);
    var request = Request.of(kind, head, MemorySegment.NULL, limit);
    for (int server : servers) {
      handle.add();
      if (!channel.tryRequest(
          server, request, outcome -> handle.ended(heard(server, outcome, lost)))) {
        handle.ended(
            new CommException.TimedOut(
                "too many requests are open to rank " + server, List.of(server)));
      }
    }
    handle.sealed();
    return handle.await();
  }

  private @Nullable CommException heard(int server, RequestOutcome outcome, Set<Integer> lost) {
    return switch (outcome) {
      case RequestOutcome.Failed(CommException.PeerLost _) -> {
        lost.add(server);
        yield null;
      }
      case RequestOutcome.Failed(CommException cause) -> cause;
      case RequestOutcome.Replied(MemorySegment body, long _) -> {
        try {
          KvReply reply = KvReply.read(body);
          yield reply.status() == KvReply.Status.DONE ? null : refused(server, reply.text());
        } catch (IllegalArgumentException wrong) {
          yield refused(server, String.valueOf(wrong.getMessage()));
        }
      }
    };
  }

  private CommException refused(int server, String why) {
    return new CommException.Mismatch(
        "rank %d cannot take the place of a server: rank %d has refused it: %s"
            .formatted(rank, server, why));
  }
}
