// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import io.weft.cluster.Mesh;
import io.weft.cluster.PeerExit;
import io.weft.collective.exchange.CollectiveContext;
import io.weft.collective.frame.CollectiveFrame;
import io.weft.collective.group.Group;
import io.weft.collective.group.Groups;
import io.weft.comm.CommException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Propagates one rank's failure to all: operations that cannot end any more fail at once, and the
/// other members of a communicator receive the cause. (The mesh announces lost ranks.) Confined to
/// the progress thread.
final class CommunicatorFailures {

  private static final Logger LOG = LoggerFactory.getLogger(CommunicatorFailures.class);

  private final Collectives collectives;

  /// The lost ranks in the order of their loss, so that a cause precedes its consequences.
  private final List<FailureMessages.Lost> lost = new ArrayList<>();

  private final List<Consumer<? super CommException>> onlookers = new ArrayList<>();
  private @Nullable CommException end;

  CommunicatorFailures(Collectives collectives) {
    this.collectives = collectives;
  }

  /// Fails an operation whose new stage waits for a member that has left.
  void failIfDeserted(Operation<?> operation) {
    if (!collectives.mesh().hasAnyLeft()) {
      return;
    }
    for (int member : operation.waitingFor()) {
      if (collectives.mesh().hasLeft(operation.group().world(member)) && operation.needs(member)) {
        failDeserted(operation, member);
        return;
      }
    }
  }

  /// Fails an operation that waits for a member that has left, on this rank and on the others. They
  /// may have received everything they need from that member, and would wait for this rank.
  private void failDeserted(Operation<?> operation, int member) {
    collectives.fail(operation, FailureMessages.left(operation, member, collectives.now()));
    Group group = operation.group();
    for (int m = 0; m < group.size(); m++) {
      int world = group.world(m);
      if (m != group.rank() && !collectives.mesh().isGone(world)) {
        collectives
            .context()
            .send(
                operation,
                m,
                CollectiveFrame.Type.DESERTED,
                0,
                member,
                CollectiveFrame.HEADER_BYTES);
      }
    }
  }

  /// Handles the failure of an operation at a member because another member has left.
  void onDeserted(Operation<?> operation, int needy, int member) {
    if (member < 0 || member >= operation.group().size() || member == needy) {
      operation.brokenBy(needy, "a notice that member " + member + " has left");
    } else if (!operation.failed()) {
      collectives.fail(
          operation, FailureMessages.left(operation, member, needy, collectives.now()));
    }
  }

  /// Notifies the other members that an operation has failed here for a local reason.
  void tellBroken(Operation<?> operation, CommException cause) {
    Group group = operation.group();
    String text = Objects.requireNonNullElse(cause.getMessage(), cause.toString());
    for (int m = 0; m < group.size(); m++) {
      if (m != group.rank() && !collectives.mesh().isGone(group.world(m))) {
        int bytes = CollectiveFrame.text(collectives.context().scratch(), text);
        collectives.context().send(operation, m, CollectiveFrame.Type.BROKEN, 0, 0, bytes);
      }
    }
  }

  /// Handles the failure of an operation at a member for a reason local to that member.
  void onBroken(Operation<?> operation, int member, String text) {
    if (!operation.failed()) {
      Group group = operation.group();
      String words = text + "; said by " + group.describe(member);
      collectives.fail(operation, new CommException.Broken(words, group.world(member), null));
    }
  }

  /// Returns the cause for which no operation of this communicator can succeed any more, or null.
  @Nullable CommException of(Group group) {
    return group.failure() == null ? end : group.failure();
  }

  /// Returns the failure that a new communicator has from the beginning, or null. Of several lost
  /// members it is the first one. A member that has left in order does not count, because it may
  /// have done its part before.
  @Nullable CommException atBirth(Group group) {
    if (end != null) {
      return end;
    }
    return lost.stream()
        .filter(rank -> group.member(rank.rank()) >= 0)
        .findFirst()
        .map(FailureMessages::gone)
        .orElse(null);
  }

  /// Records that a new communicator has failed already.
  void failAtBirth(Group group, CommException cause) {
    if (group.failWith(cause)) {
      announce(group, cause);
    }
  }

  /// Registers an action by `Weft.onFailure`.
  void onFailure(Consumer<? super CommException> action) {
    onlookers.add(action);
    collectives.forEachGroup(
        group -> {
          CommException cause = group.failure();
          if (cause != null && !group.isClosed()) {
            tell(action, cause);
          }
        });
  }

  private void announce(Group group, CommException cause) {
    if (!group.isClosed()) {
      onlookers.forEach(action -> tell(action, cause));
    }
  }

  /// Runs a callback. An exception, which it must not throw, is only logged.
  private static void tell(Consumer<? super CommException> action, CommException cause) {
    try {
      action.accept(cause);
    } catch (RuntimeException | Error e) {
      LOG.error("a callback of Weft.onFailure has thrown, which it must not", e);
    }
  }

  /// Fails all operations of a communicator, now and in future, on this rank and on the other
  /// members.
  void abort(Group group, CommException cause, int culprit) {
    if (abortHere(group, cause)) {
      tell(group, cause, culprit);
    }
  }

  /// Forwards another member's abort, so that the other members receive it before a good-bye of
  /// this rank.
  void passOn(Group group, CommException cause) {
    abort(group, cause, cause instanceof CommException.Aborted aborted ? aborted.culprit() : -1);
  }

  /// Handles a member's abort of a communicator, which may not be open here yet.
  void onAbort(Groups groups, int fromRank, long groupKey, CommException cause) {
    Group group = groups.get(groupKey);
    Mesh mesh = collectives.mesh();
    if (group != null && group.member(fromRank) < 0) {
      mesh.drop(fromRank, "it aborted a communicator to which it does not belong");
    } else if (group != null && !group.isAborted()) {
      collectives.events().onTold(fromRank, cause, collectives.now());
      passOn(group, cause);
    } else if (group == null && !groups.isClosed(groupKey) && !groups.keepAbort(groupKey, cause)) {
      mesh.drop(fromRank, "it aborted too many communicators that this rank has not created");
    }
  }

  /// Aborts a communicator only on this rank. Returns whether this was its first abort.
  boolean abortHere(Group group, CommException cause) {
    boolean news = group.failure() == null;
    boolean first = group.abortWith(cause);
    if (first) {
      collectives.events().onAborted(group.key(), cause, collectives.now());
    }
    if (news) {
      announce(group, cause);
    }
    for (Operation<?> operation : runningOf(group)) { // some outlive a member's exit
      collectives.fail(operation, cause);
    }
    collectives.failHeld();
    return first;
  }

  /// Fails all communicators, now and in future, only on this rank.
  void abortAllHere(CommException cause) {
    if (end == null) {
      end = cause;
      collectives.forEachGroup(group -> abortHere(group, cause));
    }
  }

  /// Aborts the communicators of a lost rank on this rank; the mesh ensures that all ranks learn of
  /// the loss. Returns a description of the operations in flight with that rank.
  String onLost(int rank, PeerExit.Lost loss) {
    List<Operation<?>> waiting =
        collectives.activeOperations().inOrder().stream()
            .filter(o -> o.group().member(rank) >= 0)
            .toList();
    long now = collectives.now();
    String where = FailureMessages.list(waiting, now);
    String words = FailureMessages.loss(collectives.mesh(), rank, loss);
    FailureMessages.Lost failure = new FailureMessages.Lost(rank, loss.witness(), words);
    lost.add(failure);
    collectives.forEachGroup(
        group -> {
          if (group.member(rank) >= 0) {
            abortHere(group, FailureMessages.lost(group, failure, runningOf(group), now));
          }
        });
    return where;
  }

  /// Handles a rank that has left in order. Only operations that still wait for it fail, now or
  /// when they are submitted later. The rank may have done its part in an operation that this rank
  /// has not submitted yet, such as its own broadcast.
  void onLeft(Group group, int rank) {
    int member = group.member(rank);
    if (member < 0) {
      return;
    }
    for (Operation<?> operation : runningOf(group)) {
      if (operation.needs(member)) {
        failDeserted(operation, member);
      }
    }
  }

  private List<Operation<?>> runningOf(Group group) {
    return collectives.activeOperations().inOrder().stream()
        .filter(o -> o.group() == group)
        .toList();
  }

  private void tell(Group group, CommException cause, int culprit) {
    CollectiveContext context = collectives.context();
    int code = FailureMessages.code(cause);
    String text = Objects.requireNonNullElse(cause.getMessage(), cause.toString());
    for (int m = 0; m < group.size(); m++) {
      if (m != group.rank() && !collectives.mesh().isGone(group.world(m))) {
        MemorySegment frame = context.scratch();
        CollectiveFrame.header(
            frame, CollectiveFrame.Type.ABORT, group.key(), code, 0, 0, 0, culprit);
        context.send(group.world(m), CollectiveFrame.text(frame, text));
      }
    }
  }
}
