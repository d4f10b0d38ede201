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

/// The exchange between ranks that disagree on an operation. A rank that notices the disagreement
/// sends its submission to all members, once. A rank that receives a submission different from its
/// own fails the operation with both descriptions.
final class Mismatches {

  private static final Logger LOG = LoggerFactory.getLogger(Mismatches.class);

  /// The `aux` of a MISMATCH whose sender has completed the operation and needs no reply.
  private static final int ENDED = 1;

  private Mismatches() {}

  /// Handles a frame of this member with another signature, or the submission that it `told`.
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

  /// Handles a frame of an operation that has ended here. A peer that had submitted a different one
  /// is sent this rank's submission, once. The peer cannot have completed too, because a rank
  /// completes only after all ranks with which it exchanges have sent the same signature.
  static void afterTheEnd(
      Collectives collectives,
      NameUse use,
      CollectiveFrame.Type type,
      int fromRank,
      MemorySegment message) {
    boolean told = type == CollectiveFrame.Type.MISMATCH;
    boolean same =
        told
            ? CollectiveFrame.aux(message) == ENDED
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
        ENDED);
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
