// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.transfer;

import io.weft.rendezvous.Rendezvous;
import io.weft.rendezvous.Rendezvous.Offer;
import java.util.ArrayList;
import java.util.List;

/// The sends of one step of a part.
sealed interface StepSends extends AutoCloseable {

  /// Takes it.
  void send(Offer offer);

  /// The run has ended well: what is held leaves.
  void flush();

  /// What is still held is given back.
  @Override
  void close();

  /// Each leaves at once, for parts in which something may wait for it. Any thread.
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

  /// All leave together at the end, which costs one word to the progress thread and as few messages
  /// as they fit in. For parts that neither compute nor wait, and run on one thread.
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
