// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous;

import io.weft.tensor.TensorView;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;

/// Where producers leave tensors and consumers fetch them, each at its own time: a consumer may ask
/// before or after the tensor is there, and a producer never waits. One for each rank; the tensor
/// stays with its producer until the consumer's rank asks. Any thread.
///
/// Callbacks run on the progress thread, in batches at the end of a duty cycle: they must neither
/// block nor throw, and may call this object. Where this rank has left the job, callbacks learn it
/// from what they are told; a callback that publishes or receives again then is refused with
/// `CommException.Aborted`.
public interface Rendezvous {

  /// Leaves a tensor whose edge begins at this rank. Borrows it until `release` has been called,
  /// once, also when nobody wants it any more. Any dtype; bytes are not looked at. A key that is
  /// published twice aborts its step. For a step that has ended or was aborted it is released at
  /// once. Throws `IllegalArgumentException` if the edge begins elsewhere.
  void publish(RendezvousKey key, TensorView tensor, Runnable release);

  /// One of several tensors that are left together; as in `publish`.
  record Offer(RendezvousKey key, TensorView tensor, Runnable release) {

    /// Throws `NullPointerException` where one is missing.
    public Offer {
      Objects.requireNonNull(key, "key");
      Objects.requireNonNull(tensor, "tensor");
      Objects.requireNonNull(release, "release");
    }
  }

  /// The same for several tensors at once: the progress thread finds them in one duty cycle, and
  /// what was asked for by one rank leaves in as few messages as it fits in. Throws
  /// `IllegalArgumentException` if an edge begins elsewhere, and borrows none then.
  void publishAll(List<Offer> offers);

  /// Says that the branch which would have produced this tensor was not taken. No bytes travel.
  void publishDead(RendezvousKey key);

  /// Asks for a tensor whose edge ends at this rank. `receiver` hears once what became of it, at
  /// the latest when `limit` has passed; what arrives is then the receiver's. Throws
  /// `IllegalArgumentException` if the edge ends elsewhere.
  void receive(RendezvousKey key, Duration limit, Consumer<? super Arrival> receiver);

  /// The same for several tensors at once. What is of one source is asked for by one message, as
  /// far as it fits, where `rendezvous-requests` is `fused`. Throws `IllegalArgumentException` if
  /// an edge ends elsewhere, and asks for none then.
  void receiveAll(List<ReceiveRequest> wishes, Duration limit);

  /// Fails what waits in a step on this rank, and refuses what comes later; other ranks learn of it
  /// when they ask this one. `why` stands in the messages. A step that has ended is left alone.
  void abort(long step, String why);

  /// Ends a step on this rank: nothing of it is left afterwards. What still waits fails, what
  /// nobody fetched is released. Every rank ends every step that it knows of, aborted ones too; a
  /// step more than 65,536 behind the highest of its series that has ended counts as ended.
  void end(long step);

  /// What is held now, and what was done so far; a little old.
  RendezvousCounts counts();
}
