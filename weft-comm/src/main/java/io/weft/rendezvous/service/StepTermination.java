// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous.service;

import io.weft.comm.CommException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The end of steps, the loss of a peer, and the failure of the whole service. The affected pending
/// sides fail, and the peers to which this rank sent requests are notified. Confined to the
/// progress thread.
final class StepTermination {

  private final MeshRendezvous owner;
  private final Map<Integer, CommException> losses = new HashMap<>();
  private @Nullable CommException failure;

  StepTermination(MeshRendezvous owner) {
    this.owner = owner;
  }

  /// The reason why receives from this rank fail, or null.
  @Nullable CommException loss(int rank) {
    return losses.get(rank);
  }

  /// The reason why all receives fail, or null.
  @Nullable CommException failure() {
    return failure;
  }

  /// Fails the pending and future operations of a step.
  void abort(long number, CommException cause) {
    OpenStep step = owner.steps().open(number);
    if (step != null) {
      step.fail(cause);
      clear(step, cause);
    }
  }

  void end(long number) {
    OpenStep step = owner.steps().end(number);
    if (step != null) {
      clear(step, owner.words().ended(number));
    }
  }

  /// Fails the pending sides of a step, and cancels its requests at the peers.
  private void clear(OpenStep step, CommException cause) {
    List<RendezvousPeer> told = new ArrayList<>();
    for (PendingSide pending : step.all()) {
      if (pending instanceof PendingReceive it && it.peer() != null && !told.contains(it.peer())) {
        RendezvousPeer peer = Objects.requireNonNull(it.peer());
        told.add(peer);
        long number = step.number();
        peer.post(message -> message.cancel(-1, number));
      }
      end(pending, cause);
    }
  }

  void end(PendingSide pending, CommException cause) {
    if (pending instanceof ParkedRequest request) {
      owner.source().drop(request);
    } else {
      owner.leave(pending);
    }
    pending.fail(cause);
  }

  /// Handles a peer's cancellation of one request, or of all requests of a step.
  void onCancel(RendezvousPeer from, int id, long number) {
    OpenStep step =
        number < 0 || owner.steps().hasEnded(number) ? null : owner.steps().open(number);
    if (step != null) {
      for (PendingSide pending : step.all()) {
        if (pending instanceof ParkedRequest request
            && request.peer == from
            && (id == -1 || request.id == id)) {
          owner.source().drop(request);
        }
      }
    }
  }

  /// Handles the loss of a rank. Returns the operation that waited for it, in words; empty = none.
  String lose(int rank, CommException cause) {
    losses.put(rank, cause);
    owner.peer(rank).leave();
    StringBuilder waited = new StringBuilder();
    for (OpenStep step : owner.steps().snapshot()) {
      for (PendingSide pending : step.all()) {
        if (pending.dependsOn(rank)) {
          if (pending instanceof PendingReceive it && waited.isEmpty()) {
            waited.append("receive of ").append(it.key);
          }
          end(pending, cause);
        }
      }
    }
    owner.source().endWithdrawn();
    return waited.toString();
  }

  /// Fails all pending and future operations. Only the first reason counts.
  void failAll(CommException cause) {
    failure = Objects.requireNonNullElse(failure, cause);
    for (OpenStep step : owner.steps().snapshot()) {
      for (PendingSide pending : step.all()) {
        end(pending, cause);
      }
    }
    owner.source().endWithdrawn();
  }
}
