// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import io.weft.collective.frame.CollectiveFrame;
import io.weft.collective.group.Group;
import io.weft.collective.group.NameUse;
import io.weft.comm.CommException;
import io.weft.text.Printable;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// How ranks that disagree on an operation tell each other: whoever notices tells all members what
/// it has submitted itself, once; whoever learns of another submission than its own fails the
/// operation with both in words.
final class Mismatches {

  private static final Logger LOG = LoggerFactory.getLogger(Mismatches.class);

  /// In `aux` of a MISMATCH: the sender has completed the operation, and needs no answer.
  private static final int OVER = 1;

  private Mismatches() {}

  /// A frame with another signature came from this member, or its `told` submission.
  static void on(
      Collectives collectives, Operation<?> operation, int member, @Nullable MemorySegment told) {
    if (!operation.toldMismatch()) {
      operation.markToldMismatch();
      tellAll(collectives, operation);
    }
    if (told == null) {
      return;
    }
    String theirs = CollectiveFrame.text(told);
    if (!theirs.equals(operation.signature().words())) {
      Group group = operation.group();
      collectives.fail(
          operation,
          new CommException.Mismatch(
              "ranks disagree on '"
                  + operation.name()
                  + "': "
                  + group.self()
                  + " submitted "
                  + operation.signature().words()
                  + ", "
                  + group.describe(member)
                  + " submitted "
                  + theirs
                  + "; give the operation the same shape, type and options on all ranks,"
                  + " or different names"));
    }
  }

  /// A frame came for an operation that has ended here. If the peer had submitted something else,
  /// it is told once what this rank had submitted. It cannot have completed as well: whoever
  /// completes has heard the same of all with whom it exchanges.
  static void afterTheEnd(
      Collectives collectives,
      NameUse use,
      CollectiveFrame.Type type,
      int fromRank,
      MemorySegment message) {
    boolean told = type == CollectiveFrame.Type.MISMATCH;
    boolean same =
        told
            ? CollectiveFrame.aux(message) == OVER
                || CollectiveFrame.text(message).equals(use.last().words())
            : CollectiveFrame.signature(message) == use.last().hash();
    Group group = use.group();
    if (same || !use.answers(group.member(fromRank))) {
      return;
    }
    LOG.warn(
        "ranks disagree on '{}': {} had submitted {} and has completed it; {} reports the failure",
        Printable.of(use.name()),
        group.self(),
        use.last().words(),
        group.describe(group.member(fromRank)));
    MemorySegment frame = collectives.context().scratch();
    long key = CollectiveFrame.key(message);
    int sequence = CollectiveFrame.sequence(message);
    CollectiveFrame.header(
        frame,
        CollectiveFrame.Type.MISMATCH,
        group.key(),
        0,
        use.last().hash(),
        key,
        sequence,
        OVER);
    collectives.context().send(fromRank, CollectiveFrame.text(frame, use.last().words()));
  }

  private static void tellAll(Collectives collectives, Operation<?> operation) {
    Group group = operation.group();
    for (int m = 0; m < group.size(); m++) {
      if (m != group.rank()) {
        MemorySegment frame = collectives.context().scratch();
        int bytes = CollectiveFrame.text(frame, operation.signature().words());
        collectives
            .context()
            .send(operation, m, CollectiveFrame.Type.MISMATCH, operation.stageIndex(), 0, bytes);
      }
    }
  }
}
