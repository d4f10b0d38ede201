// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.session;

import io.weft.Weft;
import io.weft.cluster.channel.IncomingRequest;
import io.weft.cluster.channel.Request;
import io.weft.cluster.channel.RequestHandler;
import io.weft.comm.CommException;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.jspecify.annotations.Nullable;

/// Control messages between ranks, in order from each to each, of any length: payloads of requests
/// whose replies are empty.
final class Mailboxes {

  private static final MemorySegment NOTHING = MemorySegment.NULL;

  /// One of the kinds of Weft itself (docs/protocol/channel.md).
  private static final int REQUEST_KIND = 0;

  /// A rank that says nothing is alive, or the mesh tells of its loss, which ends the request.
  private static final Duration UNTIL_LOST = Duration.ofNanos(Long.MAX_VALUE / 2);

  private final Weft weft;
  private final MailReader reader;
  private final List<Outbox> outboxes = new ArrayList<>();
  private final AtomicIntegerArray gone;
  private volatile boolean closed;

  /// Who reads. Both are called on the progress thread and must neither block nor throw.
  interface MailReader {

    void onMessage(int from, ControlMessage message);

    /// Nothing more comes from this rank, and nothing reaches it. Said once for each.
    void onLost(int rank, CommException cause);
  }

  /// Reads what the other ranks send, once `open`.
  Mailboxes(Weft weft, MailReader reader) {
    this.weft = weft;
    this.reader = reader;
    this.gone = new AtomicIntegerArray(weft.size());
    for (int rank = 0; rank < weft.size(); rank++) {
      outboxes.add(new Outbox(rank));
    }
  }

  void open() {
    weft.channel().serve(REQUEST_KIND, new Inbox());
  }

  /// Whether the rank is lost or has left.
  boolean isGone(int rank) {
    return gone.get(rank) != 0;
  }

  /// Any thread; never waits. What is for a rank that is gone is forgotten.
  void send(int to, ControlMessage message) {
    if (isGone(to)) {
      return;
    }
    byte[] bytes = ControlCodec.encode(message);
    TensorLease tensor = weft.allocate(DType.UINT8, Shape.of(bytes.length));
    tensor.view().data().copyFrom(MemorySegment.ofArray(bytes));
    outboxes.get(to).send(tensor);
  }

  /// Reads nothing any more.
  void close() {
    closed = true;
  }

  /// What is sent to one rank, in order. Keeps what is beyond the requests that the channel takes
  /// at once: the steps of the sessions bound it. Any thread; no lock, since a receiver is told
  /// while others may be inside the channel.
  private final class Outbox {
    private final int rank;
    private final Queue<TensorLease> kept = new ConcurrentLinkedQueue<>();
    private final AtomicInteger entered = new AtomicInteger();

    Outbox(int rank) {
      this.rank = rank;
    }

    void send(TensorLease message) {
      kept.add(message);
      submit();
    }

    /// One thread at a time; who comes meanwhile has it look again.
    private void submit() {
      int calls = entered.incrementAndGet() == 1 ? 1 : 0;
      while (calls > 0) {
        TensorLease next = kept.peek();
        while (next != null && isTaken(next)) {
          kept.remove();
          next = kept.peek();
        }
        calls = entered.addAndGet(-calls);
      }
    }

    private boolean isTaken(TensorLease message) {
      Request request = Request.of(REQUEST_KIND, NOTHING, message.view().data(), UNTIL_LOST);
      try {
        return weft.channel().tryRequest(rank, request, outcome -> over(message));
      } catch (CommException.Aborted left) {
        message.close(); // told by the outcome of another that this rank has left the job
        return true;
      }
    }

    private void over(TensorLease message) {
      message.close();
      submit();
    }
  }

  /// What comes from all ranks. On the progress thread.
  private final class Inbox implements RequestHandler {

    @Override
    public void onRequest(IncomingRequest request) {
      int from = request.fromRank();
      ControlMessage message = closed ? null : decode(request);
      if (message == null) {
        request.fail("the server is closed, or it is no control message");
      } else {
        request.reply(NOTHING);
        reader.onMessage(from, message);
      }
    }

    private @Nullable ControlMessage decode(IncomingRequest request) {
      try {
        return ControlCodec.decode(request.payload().toArray(ValueLayout.JAVA_BYTE));
      } catch (IllegalArgumentException e) {
        int from = request.fromRank();
        onPeerGone(
            from,
            new CommException.Aborted(
                "rank " + from + " sent what is no control message: " + e.getMessage(), from, e));
        return null;
      }
    }

    @Override
    public void onPeerGone(int rank, CommException cause) {
      // Those that joined the job later are no tasks.
      if (!closed && rank < gone.length() && gone.getAndSet(rank, 1) == 0) {
        reader.onLost(rank, cause);
      }
    }
  }
}
