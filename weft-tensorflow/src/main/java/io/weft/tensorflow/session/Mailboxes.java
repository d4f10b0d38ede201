// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.session;

import io.weft.CommException;
import io.weft.Weft;
import io.weft.rendezvous.Arrival;
import io.weft.rendezvous.Edge;
import io.weft.rendezvous.RendezvousKey;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.jspecify.annotations.Nullable;

/// Control messages between ranks, in order from each to each. A message is a tensor of bytes that
/// goes through the rendezvous like any other, so it is authenticated, of any length, and costs one
/// way: each rank asks for the next few messages of every other before there are any.
final class Mailboxes {

  /// All control messages are of this step, which ends with the server.
  private static final long STEP = RendezvousKey.step(1, 0);

  private static final String EDGE = "control";

  /// Messages of one rank that were asked for and have not come: so many may follow each other
  /// without waiting.
  private static final int WINDOW = 4;

  /// A rank that says nothing is alive, or the mesh tells of its loss, which ends the receive.
  private static final Duration UNTIL_LOST = Duration.ofNanos(Long.MAX_VALUE / 2);

  private final Weft weft;
  private final Reader reader;
  private final long[] sent;
  private final AtomicIntegerArray gone;

  /// Who reads. Both are called on the progress thread and must neither block nor throw.
  interface Reader {

    void onMessage(int from, ControlMessage message);

    /// Nothing more comes from this rank, and nothing reaches it. Said once for each.
    void onLost(int rank, CommException cause);
  }

  /// Reads what the other ranks send, once `open`.
  Mailboxes(Weft weft, Reader reader) {
    this.weft = weft;
    this.reader = reader;
    this.sent = new long[weft.size()];
    this.gone = new AtomicIntegerArray(weft.size());
  }

  void open() {
    for (int rank = 0; rank < weft.size(); rank++) {
      if (rank != weft.rank()) {
        var box = new Box(rank);
        for (int i = 0; i < WINDOW; i++) {
          box.ask(i);
        }
      }
    }
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
    Edge edge = new Edge(weft.rank(), 0, to, EDGE);
    synchronized (sent) { // numbers and submissions in one order
      var key = new RendezvousKey(edge, STEP, 0, sent[to]++);
      weft.rendezvous().publish(key, tensor.view(), tensor::close);
    }
  }

  /// Asks for nothing any more.
  void close() {
    weft.rendezvous().end(STEP);
  }

  /// What comes from one rank. Confined to the progress thread once all was asked for.
  private final class Box {
    private final Edge edge;
    private final @Nullable ControlMessage[] early = new ControlMessage[WINDOW];
    private long next;

    Box(int from) {
      edge = new Edge(from, 0, weft.rank(), EDGE);
    }

    void ask(long number) {
      weft.rendezvous()
          .receive(new RendezvousKey(edge, STEP, 0, number), UNTIL_LOST, it -> arrived(number, it));
    }

    /// A long message may come after the short ones that followed it.
    private void arrived(long number, Arrival arrival) {
      switch (arrival) {
        case Arrival.Live(TensorLease tensor) -> {
          ControlMessage message = decode(tensor);
          if (message != null) {
            early[(int) (number % WINDOW)] = message;
            deliver();
          }
        }
        case Arrival.Dead() -> lost(new CommException.Aborted(edge + " sent nothing", null));
        case Arrival.Failed(CommException cause) -> lost(cause);
      }
    }

    private @Nullable ControlMessage decode(TensorLease tensor) {
      try (tensor) {
        return ControlCodec.decode(tensor.view().data().toArray(ValueLayout.JAVA_BYTE));
      } catch (IllegalArgumentException e) {
        lost(
            new CommException.Aborted(
                "rank " + edge.source() + " sent what is no control message: " + e.getMessage(),
                edge.source(),
                e));
        return null;
      }
    }

    private void deliver() {
      for (ControlMessage message = take(); message != null; message = take()) {
        ask(next + WINDOW - 1);
        reader.onMessage(edge.source(), message);
      }
    }

    private @Nullable ControlMessage take() {
      int at = (int) (next % WINDOW);
      ControlMessage message = early[at];
      if (message != null) {
        early[at] = null;
        next++;
      }
      return message;
    }

    private void lost(CommException cause) {
      if (gone.getAndSet(edge.source(), 1) == 0) {
        reader.onLost(edge.source(), cause);
      }
    }
  }
}
