// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous.service;

import io.weft.cluster.item.Submission;
import io.weft.comm.CommException;
import io.weft.memory.UserMemory;
import io.weft.rendezvous.Arrival;
import io.weft.rendezvous.Edge;
import io.weft.rendezvous.ReceiveRequest;
import io.weft.rendezvous.Rendezvous;
import io.weft.rendezvous.RendezvousCounts;
import io.weft.rendezvous.RendezvousKey;
import io.weft.rendezvous.route.Route;
import io.weft.tensor.TensorView;
import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The rendezvous for its users, which checks their arguments and submits their calls to the
/// progress thread. Any thread.
final class RendezvousClient implements Rendezvous {

  private final MeshRendezvous behind;

  RendezvousClient(MeshRendezvous behind) {
    this.behind = behind;
  }

  @Override
  public void publish(RendezvousKey key, TensorView tensor, Runnable release) {
    Route route = route(key, key.edge().source());
    UserMemory.checkReadable(key.edge().name(), "tensor", tensor);
    Objects.requireNonNull(release, "release");
    behind.requireNotOver();
    submit(publication(route, key, tensor, release));
  }

  @Override
  public void publishAll(List<Offer> offers) {
    List<Publication> all = new ArrayList<>(offers.size());
    for (Offer it : offers) {
      RendezvousKey key = it.key();
      UserMemory.checkReadable(key.edge().name(), "tensor", it.tensor());
      all.add(publication(route(key, key.edge().source()), key, it.tensor(), it.release()));
    }
    behind.requireNotOver();
    all.forEach(behind::submitted);
    behind.submit(new Batch(all));
  }

  @Override
  public void publishDead(RendezvousKey key) {
    Route route = route(key, key.edge().source());
    behind.requireNotOver();
    submit(publication(route, key, null, RendezvousClient::nothing));
  }

  private Publication publication(
      Route route, RendezvousKey key, @Nullable TensorView tensor, Runnable release) {
    return new Publication(route, key, tensor, release, submitted());
  }

  private PendingTransfer.Submitted submitted() {
    return new PendingTransfer.Submitted(behind.nextTransfer(), behind.watchedNanos());
  }

  private void submit(Publication it) {
    behind.submitted(it);
    behind.submit(it);
  }

  private static void nothing() {}

  @Override
  public void receive(RendezvousKey key, Duration limit, Consumer<? super Arrival> receiver) {
    PendingReceive it = pendingReceive(key, limit, receiver);
    behind.requireNotOver();
    behind.submitted(it);
    behind.submit(it);
  }

  @Override
  public void receiveAll(List<ReceiveRequest> wishes, Duration limit) {
    Objects.requireNonNull(limit, "limit");
    List<PendingReceive> all = new ArrayList<>(wishes.size());
    for (ReceiveRequest request : wishes) {
      all.add(pendingReceive(request.key(), limit, request.receiver()));
    }
    behind.requireNotOver();
    all.forEach(behind::submitted);
    behind.submit(new Batch(all));
  }

  private PendingReceive pendingReceive(
      RendezvousKey key, Duration limit, Consumer<? super Arrival> receiver) {
    Objects.requireNonNull(receiver, "receiver");
    return new PendingReceive(
        route(key, key.edge().destination()),
        key,
        ClampedDuration.nanos(limit),
        receiver,
        submitted());
  }

  @Override
  public void prefer(Edge edge, int urgency) {
    Objects.requireNonNull(edge, "edge");
    if (urgency < 0) {
      throw new IllegalArgumentException(
          "urgency " + urgency + " of edge " + edge + " is negative; the least urgency is 0");
    }
    int end = edge.source() == behind.rank() ? edge.source() : edge.destination();
    route(edge, end).prefer(urgency);
  }

  private Route route(RendezvousKey key, int end) {
    return route(key.edge(), end);
  }

  private Route route(Edge edge, int end) {
    int size = behind.size();
    if (end != behind.rank() || edge.source() >= size || edge.destination() >= size) {
      throw new IllegalArgumentException(
          "edge "
              + edge
              + " does not belong to rank "
              + behind.rank()
              + " of "
              + size
              + "; publish at its source, receive at its destination");
    }
    return behind.routes().of(edge);
  }

  @Override
  public void abort(long step, String why) {
    Objects.requireNonNull(why, "why");
    behind.submit(new Abort(step, behind.words().aborted(step, why)));
  }

  @Override
  public void end(long step) {
    if (step < 0) {
      throw new IllegalArgumentException("step " + step + " is negative");
    }
    behind.submit(new End(step));
  }

  @Override
  public RendezvousCounts counts() {
    return behind.counts();
  }

  /// Submissions that enter in one duty cycle.
  private static final class Batch extends Submission<MeshRendezvous> {
    private final List<? extends Submission<MeshRendezvous>> all;

    Batch(List<? extends Submission<MeshRendezvous>> all) {
      this.all = all;
    }

    @Override
    protected void enter(MeshRendezvous rendezvous) {
      for (Submission<MeshRendezvous> one : all) {
        rendezvous.enter(one);
      }
    }
  }

  private static final class Abort extends Submission<MeshRendezvous> {
    private final long step;
    private final CommException cause;

    Abort(long step, CommException cause) {
      this.step = step;
      this.cause = cause;
    }

    @Override
    protected void enter(MeshRendezvous rendezvous) {
      rendezvous.termination().abort(step, cause);
    }
  }

  private static final class End extends Submission<MeshRendezvous> {
    private final long step;

    End(long step) {
      this.step = step;
    }

    @Override
    protected void enter(MeshRendezvous rendezvous) {
      rendezvous.termination().end(step);
    }
  }
}
