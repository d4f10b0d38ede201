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

/// The receives of one step of a part. The first receive of a group to start requests the whole
/// group, so no receive waits for another to start. Arrivals for receives that have not started are
/// kept.
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

  /// Returns whether the receive is in a group.
  boolean expects(Edge edge) {
    return plan.places().containsKey(edge);
  }

  /// Starts a receive. `receiver` is called once with the outcome, possibly during this call.
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

  /// Releases tensors that no receive has taken, now or on arrival, after the step has ended.
  @Override
  public void close() {
    for (Group group : groups) {
      group.close();
    }
  }

  /// Each slot holds null, a `Waiting` receive, an `Arrival` that no receive has taken, or `OVER`.
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
