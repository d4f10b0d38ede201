// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous;

import io.weft.tensor.TensorView;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;

/// A table in which producers publish tensors and from which consumers receive them, each at its
/// own time. A consumer may request a tensor before or after it is published, and a producer never
/// waits. Each rank has one rendezvous. A tensor stays with its producer until the consumer's rank
/// requests it. Any thread.
///
/// Callbacks run on the progress thread, in batches at the end of a duty cycle. They must neither
/// block nor throw, and they may call this object. When this rank leaves the job, its pending
/// callbacks run. A callback that then publishes or receives again gets `CommException.Aborted`.
public interface Rendezvous {

  /// Publishes a tensor whose edge begins at this rank. The tensor is borrowed until `release`
  /// runs, which happens exactly once, even if no consumer requests the tensor. Any dtype; the
  /// bytes are not interpreted. Publishing a key twice aborts its step. If the step has ended or
  /// was aborted, the tensor is released at once. Throws `IllegalArgumentException` if the edge
  /// begins at another rank.
  void publish(RendezvousKey key, TensorView tensor, Runnable release);

  /// One of several tensors that are published together, as by `publish`.
  record Offer(RendezvousKey key, TensorView tensor, Runnable release) {

    /// Throws `NullPointerException` if a component is null.
    public Offer {
      Objects.requireNonNull(key, "key");
      Objects.requireNonNull(tensor, "tensor");
      Objects.requireNonNull(release, "release");
    }
  }

  /// Publishes several tensors at once. The progress thread takes them in one duty cycle, and
  /// groups the tensors that one rank has requested into few messages. Throws
  /// `IllegalArgumentException`, without borrowing any tensor, if an edge begins at another rank.
  void publishAll(List<Offer> offers);

  /// Publishes that the branch that would have produced this tensor was not taken. No payload is
  /// sent.
  void publishDead(RendezvousKey key);

  /// Receives a tensor whose edge ends at this rank. `receiver` is notified of the outcome once, at
  /// the latest when `limit` has passed. It owns the tensor that it receives. Throws
  /// `IllegalArgumentException` if the edge ends at another rank.
  void receive(RendezvousKey key, Duration limit, Consumer<? super Arrival> receiver);

  /// Receives several tensors at once. If `rendezvous-requests` is `fused`, one message requests
  /// all tensors of one source, as far as they fit. Throws `IllegalArgumentException`, without
  /// requesting any tensor, if an edge ends at another rank.
  void receiveAll(List<ReceiveRequest> wishes, Duration limit);

  /// Sets the urgency of later tensors of an edge that begins or ends at this rank; it is 0 before.
  /// Of the long tensors that are ready to move between two ranks, the most urgent ones move first,
  /// and equally urgent ones in the order in which they became ready. The consumer orders its
  /// reads, and with the write protocol the producer its writes, so both ranks should call this.
  /// Short tensors do not wait. Throws `IllegalArgumentException` for a negative urgency, or if the
  /// edge neither begins nor ends at this rank.
  void prefer(Edge edge, int urgency);

  /// Fails the pending operations of a step on this rank, and rejects later ones. Other ranks learn
  /// of it when they request a tensor of the step from this rank. The error messages include `why`.
  /// Has no effect on a step that has ended.
  void abort(long step, String why);

  /// Ends a step on this rank and removes all its state. Pending receives fail, and tensors that
  /// were not received are released. Every rank must end every step that it knows of, including
  /// aborted ones. A step more than 65,536 behind the highest ended step of its series counts as
  /// ended.
  void end(long step);

  /// The current state and the totals, possibly slightly outdated.
  RendezvousCounts counts();
}
