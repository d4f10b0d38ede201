// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.transfer;

import io.weft.comm.CommException;
import io.weft.rendezvous.Arrival;
import io.weft.rendezvous.Edge;
import io.weft.rendezvous.ReceiveRequest;
import io.weft.rendezvous.Rendezvous;
import io.weft.rendezvous.RendezvousKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The receives of one step of a part. The first that starts of a group asks for all of the group,
/// so that no receive ever waits for another one to start; what arrives for one that has not
/// started is kept for it.
final class StepReceives implements AutoCloseable {

  private final Rendezvous rendezvous;
  private final ReceivePlan plan;
  private final long step;
  private final long deadline;
  private final Group[] groups;

  StepReceives(Rendezvous rendezvous, ReceivePlan plan, long step, long deadline) {
    this.rendezvous = rendezvous;
    this.plan = plan;
    this.step = step;
    this.deadline = deadline;
    this.groups = new Group[plan.groups().size()];
    for (int i = 0; i < groups.length; i++) {
      groups[i] = new Group(plan.groups().get(i));
    }
  }

  /// Whether it is one of those that travel together.
  boolean expects(Edge edge) {
    return plan.places().containsKey(edge);
  }

  /// A receive starts. `receiver` hears once what became of it, perhaps during this call.
  void receive(Edge edge, Consumer<Arrival> receiver) {
    ReceivePlan.GroupPlace place = plan.places().get(edge);
    if (place == null) {
      rendezvous.receive(RendezvousKey.of(edge, step), left(), receiver);
    } else {
      groups[place.group()].start(place.member(), receiver);
    }
  }

  private Duration left() {
    return Duration.ofNanos(Math.max(0, deadline - System.nanoTime()));
  }

  /// Nothing of the step runs any more: gives back what nobody has taken, now or when it comes.
  @Override
  public void close() {
    for (Group group : groups) {
      group.close();
    }
  }

  /// In each slot: null; a receive that waits, `Waiting`; what has come for it, an `Arrival`; or
  /// `OVER`.
  private final class Group {

    private static final Object OVER = new Object();

    private final List<Edge> edges;
    private final AtomicReferenceArray<@Nullable Object> slots;
    private final AtomicBoolean asked = new AtomicBoolean();

    Group(List<Edge> edges) {
      this.edges = edges;
      this.slots = new AtomicReferenceArray<>(edges.size());
    }

    void start(int member, Consumer<Arrival> receiver) {
      if (asked.compareAndSet(false, true)) {
        ask();
      }
      Object there = slots.compareAndExchange(member, null, new Waiting(receiver));
      if (there instanceof Arrival arrival) {
        slots.set(member, OVER);
        receiver.accept(arrival);
      } else if (there != null) {
        receiver.accept(failed(edges.get(member) + " was received twice in step " + step, null));
      }
    }

    private void ask() {
      List<ReceiveRequest> wishes = new ArrayList<>(edges.size());
      for (int i = 0; i < edges.size(); i++) {
        int member = i;
        wishes.add(
            new ReceiveRequest(
                RendezvousKey.of(edges.get(i), step), arrival -> arrived(member, arrival)));
      }
      try {
        rendezvous.receiveAll(wishes, left());
      } catch (RuntimeException e) {
        for (int i = 0; i < edges.size(); i++) {
          arrived(i, failed(String.valueOf(e.getMessage()), e));
        }
      }
    }

    private void arrived(int member, Arrival arrival) {
      Object there = slots.compareAndExchange(member, null, arrival);
      if (there instanceof Waiting waiting) {
        slots.set(member, OVER);
        waiting.receiver().accept(arrival);
      } else if (there == OVER) {
        giveBack(arrival);
      }
    }

    void close() {
      for (int i = 0; i < edges.size(); i++) {
        giveBack(slots.getAndSet(i, OVER));
      }
    }
  }

  private record Waiting(Consumer<Arrival> receiver) {}

  private static Arrival failed(String why, @Nullable Throwable cause) {
    return new Arrival.Failed(new CommException.Aborted(why, cause));
  }

  private static void giveBack(@Nullable Object slot) {
    if (slot instanceof Arrival.Live(var tensor)) {
      tensor.close();
    }
  }
}
