// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import io.weft.cluster.ProcessSet;
import io.weft.cluster.Topology;
import io.weft.collective.exchange.CollectiveContext;
import io.weft.collective.exchange.Stage;
import io.weft.collective.exchange.StageTask;
import io.weft.collective.frame.CollectiveFrame;
import io.weft.collective.group.Group;
import io.weft.collective.group.NameUse;
import io.weft.comm.CommException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Reads the messages of collectives and delivers each to its operation: at once, or when the
/// operation or its stage begins. Confined to the progress thread.
final class Inbox {

  private final Collectives collectives;
  private final EarlyFrames early = new EarlyFrames();
  private long[] announced = {};

  Inbox(Collectives collectives) {
    this.collectives = collectives;
  }

  /// Discards the early frames of a rank that is entering this epoch, because they belong to an
  /// earlier one.
  void onAnnounced(int rank, long epoch) {
    if (rank >= announced.length) {
      announced = Arrays.copyOf(announced, collectives.mesh().topology().size());
    }
    if (epoch > announced[rank]) {
      announced[rank] = epoch;
      early.forgetRank(rank);
    }
  }

  /// Discards the early frames of ranks that are not members of the epoch that this rank enters.
  void onEpoch(ProcessSet members) {
    for (int rank = 0; rank < collectives.mesh().topology().size(); rank++) {
      if (members.rankOf(rank) < 0) {
        early.forgetRank(rank);
      }
    }
  }

  void onMessage(int fromRank, MemorySegment message) {
    CollectiveFrame.Type type = CollectiveFrame.type(message);
    if (type == null) {
      collectives.mesh().drop(fromRank, "it sent a message of collectives that cannot be read");
      return;
    }
    long key = CollectiveFrame.key(message);
    int sequence = CollectiveFrame.sequence(message);
    if (type == CollectiveFrame.Type.ABORT) {
      collectives.onAbort(fromRank, CollectiveFrame.communicator(message), told(fromRank, message));
      return;
    }
    if (type == CollectiveFrame.Type.MAILBOX || type == CollectiveFrame.Type.PUBLISHED) {
      if (type == CollectiveFrame.Type.MAILBOX) {
        onMailbox(fromRank, message);
      }
      return;
    }
    if (type == CollectiveFrame.Type.FORGET || type == CollectiveFrame.Type.KEPT) {
      forget(fromRank, type, message);
      return;
    }
    Operation<?> operation = collectives.activeOperations().find(key, sequence);
    if (type == CollectiveFrame.Type.PROBE) {
      answer(fromRank, message, operation);
    } else if (operation != null) {
      deliver(operation, type, fromRank, message);
    } else if (type != CollectiveFrame.Type.PROBE_REPLY
        && !collectives.isClosed(CollectiveFrame.communicator(message))) {
      NameUse use = collectives.names().get(key);
      if (use == null
          || !use.begun(sequence)
          || collectives.eviction().isNews(use, fromRank, sequence)) {
        keep(NameUse.id(key, sequence), fromRank, message);
      } else if (type != CollectiveFrame.Type.DESERTED
          && type != CollectiveFrame.Type.BROKEN
          && use.latest(sequence)
          && use.group().member(fromRank) >= 0) {
        Mismatches.afterTheEnd(collectives, use, type, fromRank, message);
      }
    }
  }

  private void forget(int fromRank, CollectiveFrame.Type type, MemorySegment message) {
    Group group = collectives.group(CollectiveFrame.communicator(message));
    if (group == null) {
      return; // the communicator is closed, or its epoch has ended
    }
    int member = group.member(fromRank);
    String wrong =
        member < 0
            ? "it asked about names of a communicator to which it does not belong"
            : collectives.eviction().onMessage(group, member, type, message);
    if (wrong != null) {
      collectives.mesh().drop(fromRank, wrong);
    }
  }

  private void onMailbox(int fromRank, MemorySegment message) {
    long communicator = CollectiveFrame.communicator(message);
    Group group = collectives.group(communicator);
    if (group != null) {
      collectives.mailboxes().onMailbox(group, fromRank, message);
    } else if (!collectives.isClosed(communicator)) {
      keep(NameUse.id(communicator, 0), fromRank, message);
    }
  }

  /// Delivers to a communicator, which was just opened, the mailboxes that were announced before.
  void replayMailboxes(Group group) {
    List<EarlyFrames.EarlyFrame> frames = early.take(NameUse.id(group.key(), 0));
    if (frames != null) {
      for (EarlyFrames.EarlyFrame frame : frames) {
        MemorySegment message = MemorySegment.ofArray(frame.bytes());
        if (CollectiveFrame.type(message) == CollectiveFrame.Type.MAILBOX) {
          onMailbox(frame.worldRank(), message);
        }
      }
    }
  }

  /// Returns whether it keeps no early frames.
  boolean isEmpty() {
    return early.operations() == 0;
  }

  /// Discards the early frames of a communicator that is closed now.
  void forget(long communicator) {
    early.forget(communicator);
  }

  /// Discards the frames for stages that an ended operation did not have.
  void forgetOperation(long id) {
    var unused = early.take(id);
  }

  /// Delivers to an operation, whose stage has just begun, the frames that arrived before.
  void replayEarly(Operation<?> operation) {
    List<EarlyFrames.EarlyFrame> frames =
        early.take(NameUse.id(operation.key(), operation.sequence()));
    if (frames == null) {
      return;
    }
    for (EarlyFrames.EarlyFrame frame : frames) {
      MemorySegment message = MemorySegment.ofArray(frame.bytes());
      CollectiveFrame.Type type = Objects.requireNonNull(CollectiveFrame.type(message));
      if (!operation.failed()) {
        deliver(operation, type, frame.worldRank(), message);
      }
    }
  }

  private void deliver(
      Operation<?> operation, CollectiveFrame.Type type, int fromRank, MemorySegment message) {
    int member = operation.group().member(fromRank);
    if (member < 0) {
      return;
    }
    if (type == CollectiveFrame.Type.PROBE_REPLY) {
      CollectiveFrame.Progress progress = CollectiveFrame.Progress.of(CollectiveFrame.aux(message));
      if (progress != null) {
        operation.onAnswer(member, progress);
      }
      return;
    }
    if (type == CollectiveFrame.Type.MISMATCH
        || CollectiveFrame.signature(message) != operation.signature().hash()) {
      MemorySegment told = type == CollectiveFrame.Type.MISMATCH ? message : null;
      Mismatches.on(collectives, operation, member, told);
      return;
    }
    if (type == CollectiveFrame.Type.DESERTED) {
      collectives.failures().onDeserted(operation, member, CollectiveFrame.aux(message));
      return;
    }
    if (type == CollectiveFrame.Type.BROKEN) {
      collectives.failures().onBroken(operation, member, CollectiveFrame.text(message));
      return;
    }
    int ahead = CollectiveFrame.stageIndex(message) - operation.stageIndex();
    if (ahead > 0) {
      keep(NameUse.id(operation.key(), operation.sequence()), fromRank, message);
    } else if (ahead == 0) {
      StageTask task = operation.task();
      if (task != null) {
        operation.heard(member);
        try {
          deliver(task, type, member, message);
        } catch (RuntimeException | Error thrown) {
          operation.broken(thrown);
        }
      }
    }
  }

  private static void deliver(
      StageTask task, CollectiveFrame.Type type, int member, MemorySegment message) {
    switch (type) {
      case EAGER -> task.onEager(member, CollectiveFrame.body(message));
      case GRANT -> task.onGrant(member, message);
      case CREDIT -> task.onCredit(member, CollectiveFrame.aux(message));
      case SHARE -> task.onShare(member, message);
      case ENTERED -> task.onEntered(member);
      case DONE -> task.onDone(member, message);
      default -> throw new IllegalStateException(type.toString());
    }
  }

  private void keep(long id, int fromRank, MemorySegment message) {
    if (CollectiveFrame.stageIndex(message) >= Stage.MAX_STAGES) {
      collectives
          .mesh()
          .drop(fromRank, "it sent a frame of stage " + CollectiveFrame.stageIndex(message));
      return;
    }
    early.keep(id, fromRank, message);
    if (early.isOverfull()) {
      int most = early.mostBy();
      early.forgetRank(most);
      collectives
          .mesh()
          .drop(most, "it sent too many frames of operations that this rank has not begun");
    }
  }

  private CommException told(int fromRank, MemorySegment abort) {
    Topology topology = collectives.mesh().topology();
    int culprit = CollectiveFrame.aux(abort);
    return FailureMessages.told(
        CollectiveFrame.stageIndex(abort),
        CollectiveFrame.text(abort),
        culprit < topology.size() ? Math.max(-1, culprit) : -1,
        topology.describe(fromRank));
  }

  private void answer(int fromRank, MemorySegment probe, @Nullable Operation<?> operation) {
    long communicator = CollectiveFrame.communicator(probe);
    long key = CollectiveFrame.key(probe);
    int sequence = CollectiveFrame.sequence(probe);
    NameUse use = collectives.names().get(key);
    CollectiveFrame.Progress progress = CollectiveFrame.Progress.NOT_SUBMITTED;
    if (operation != null) {
      progress = CollectiveFrame.Progress.RUNNING;
    } else if (use != null && use.begun(sequence)) {
      progress = CollectiveFrame.Progress.ACKNOWLEDGED;
    } else if (collectives.isClosed(communicator)) {
      progress = CollectiveFrame.Progress.CLOSED;
    } else if (collectives.isBehind()) {
      progress = CollectiveFrame.Progress.BEHIND;
    }
    CollectiveContext context = collectives.context();
    CollectiveFrame.header(
        context.scratch(),
        CollectiveFrame.Type.PROBE_REPLY,
        communicator,
        0,
        0,
        key,
        sequence,
        progress.code());
    context.send(fromRank, CollectiveFrame.HEADER_BYTES);
  }
}
