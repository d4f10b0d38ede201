// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.transfer;

import io.weft.rendezvous.Rendezvous;
import io.weft.rendezvous.Rendezvous.Offer;
import java.util.ArrayList;
import java.util.List;

/// The sends of one step of a part.
sealed interface StepSends extends AutoCloseable {

  /// Takes ownership of an offer.
  void send(Offer offer);

  /// Publishes held offers after the run has completed successfully.
  void flush();

  /// Releases the offers that are still held.
  @Override
  void close();

  /// Sends that are published at once, for parts on whose sends other ops may wait. Any thread.
  record AtOnce(Rendezvous rendezvous) implements StepSends {

    @Override
    public void send(Offer offer) {
      rendezvous.publish(offer.key(), offer.tensor(), offer.release());
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }

  /// Sends that are published together at the end, with one command to the progress thread and the
  /// fewest messages that hold them. For parts that neither compute nor wait, and run on one
  /// thread.
  final class HeldSends implements StepSends {
    private final Rendezvous rendezvous;
    private final List<Offer> held = new ArrayList<>();

    HeldSends(Rendezvous rendezvous) {
      this.rendezvous = rendezvous;
    }

    @Override
    public void send(Offer offer) {
      held.add(offer);
    }

    @Override
    public void flush() {
      if (!held.isEmpty()) {
        rendezvous.publishAll(held);
        held.clear();
      }
    }

    @Override
    public void close() {
      held.forEach(offer -> offer.release().run());
      held.clear();
    }
  }
}
