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

/// Control messages of any length between ranks, in order for each pair. A message is the payload
/// of a request whose reply is empty.
final class Mailboxes {

  private static final MemorySegment NOTHING = MemorySegment.NULL;

  /// A request kind of Weft itself (docs/protocol/channel.md).
  private static final int REQUEST_KIND = 0;

  /// Unlimited, because the mesh reports a rank's loss, which ends the request.
  private static final Duration UNTIL_LOST = Duration.ofNanos(Long.MAX_VALUE / 2);

  private final Weft weft;
  private final MailReader reader;
  private final List<Outbox> outboxes = new ArrayList<>();
  private final AtomicIntegerArray gone;
  private volatile boolean closed;

  /// The receiver of messages. The progress thread calls it; neither method may block or throw.
  interface MailReader {

    void onMessage(int from, ControlMessage message);

    /// Called once for each rank that can neither send nor receive any more.
    void onLost(int rank, CommException cause);
  }

  /// Creates mailboxes whose `reader` receives the other ranks' messages after `open`.
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

  /// Returns whether the rank is lost or has left.
  boolean isGone(int rank) {
    return gone.get(rank) != 0;
  }

  /// Sends a message without waiting. Messages to a lost or departed rank are discarded. Any
  /// thread.
  void send(int to, ControlMessage message) {
    if (isGone(to)) {
      return;
    }
    byte[] bytes = ControlCodec.encode(message);
    TensorLease tensor = weft.allocate(DType.UINT8, Shape.of(bytes.length));
    tensor.view().data().copyFrom(MemorySegment.ofArray(bytes));
    outboxes.get(to).send(tensor);
  }

  /// Stops the delivery of messages.
  void close() {
    closed = true;
  }

  /// The queue of messages to one rank, in order. It keeps the messages that the channel does not
  /// accept yet, whose number the sessions' steps bound. Any thread. It has no lock, because
  /// completions run while other threads are inside the channel.
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

    /// Submits queued messages on one thread at a time; a concurrent caller makes that thread
    /// repeat.
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
        message.close(); // this rank has left the job
        return true;
      }
    }

    private void over(TensorLease message) {
      message.close();
      submit();
    }
  }

  /// The receiver of requests from all ranks, on the progress thread.
  private final class Inbox implements RequestHandler {

    @Override
    public void onRequest(IncomingRequest request) {
      int from = request.fromRank();
      ControlMessage message = closed ? null : decode(request);
      if (message == null) {
        request.fail("the server is closed, or the request is not a control message");
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
                "rank " + from + " sent an invalid control message: " + e.getMessage(), from, e));
        return null;
      }
    }

    @Override
    public void onPeerGone(int rank, CommException cause) {
      // Ranks that joined the job later are not tasks.
      if (!closed && rank < gone.length() && gone.getAndSet(rank, 1) == 0) {
        reader.onLost(rank, cause);
      }
    }
  }
}
