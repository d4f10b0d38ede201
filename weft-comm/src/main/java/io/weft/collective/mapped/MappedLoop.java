// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.mapped;

import io.weft.collective.exchange.CollectiveContext;
import io.weft.collective.frame.MemoryDescriptor;
import io.weft.collective.group.Group;
import io.weft.observer.OperationStage;
import org.jspecify.annotations.Nullable;

/// Runs an allreduce or reduceScatter on the memory of all ranks on one rank. All ranks announce
/// the locations of their tensors, each combines its slice of all tensors, and all announce
/// completion. A bounce buffer replaces a private tensor, part by part: its rank publishes a part
/// after it has copied it in, and copies it out after all have combined their pieces of it. The
/// `Control` carries the announcements.
///
/// A peer accesses memory only between the owner's descriptor and the peer's last announcement, in
/// visits of bounded length, and never after the region is closed. A failed operation therefore
/// closes its regions, and ends when the last visit ends. Confined to the progress thread.
final class MappedLoop {

  /// Replaces the number of combined parts of a member that cannot access another member's memory.
  static final int UNREACHED = -1;

  /// Announces this rank's progress to the others.
  interface Control {

    /// Announces the number of parts in this rank's bounce buffer.
    void tellPublished(int parts);

    /// Announces the number of parts of this rank's slice that are in all outputs, or `UNREACHED`.
    void tellReduced(int parts);

    /// Notifies this rank's observer.
    void tellStage(OperationStage stage);
  }

  private final SliceLayout layout;
  private final Group group;
  private final CollectiveContext context;
  private final ExposedMemory own;
  private final int rank;
  private final MemoryDescriptor[] members;
  private final int[] published;
  private final int[] reduced;
  private final int parts;
  private @Nullable SliceKernel reduce;
  private boolean begun;
  private boolean bounces;
  private int copiedIn;
  private int combined;
  private int copiedOut;
  private long directAt;

  // Reported to the observer.
  private boolean sent;
  private boolean received;

  MappedLoop(SliceLayout layout, Group group, CollectiveContext context) {
    this.layout = layout;
    this.group = group;
    this.context = context;
    this.rank = group.rank();
    this.own = new ExposedMemory(layout, context, rank);
    this.members = new MemoryDescriptor[group.size()];
    this.published = new int[group.size()];
    this.reduced = new int[group.size()];
    this.parts = layout.parts();
  }

  /// Registers this rank's memory, and copies the first part into a bounce buffer if it needs one.
  /// Returns the descriptor to announce.
  MemoryDescriptor expose(Object owner) {
    int kind = own.register(owner);
    if (own.bounces() && kind != MemoryDescriptor.PRIVATE && parts > 0) {
      own.copyIn(0);
      copiedIn = 1;
    }
    MemoryDescriptor mine =
        kind == MemoryDescriptor.PRIVATE
            ? MemoryDescriptor.none()
            : new MemoryDescriptor(kind, own.input(), own.output());
    members[rank] = mine;
    return mine;
  }

  /// Returns the number of parts that are in this rank's bounce buffer initially.
  int copiedIn() {
    return copiedIn;
  }

  int parts() {
    return parts;
  }

  /// Records a member's descriptor, and the number of parts in its bounce buffer.
  void told(int member, MemoryDescriptor memory, int partsPublished) {
    members[member] = memory;
    published[member] = memory.bounces() ? partsPublished : parts;
  }

  /// Records the number of parts in another member's bounce buffer, which never decreases.
  void onPublished(int member, int partsPublished) {
    published[member] = Math.clamp(partsPublished, published[member], parts);
  }

  /// Records the number of parts that another member has combined, or `UNREACHED`.
  void onReduced(int member, int partsReduced) {
    if (partsReduced == UNREACHED) {
      layout.leaveUndone(member);
      reduced[member] = parts;
    } else {
      reduced[member] = Math.clamp(partsReduced, reduced[member], parts);
    }
  }

  /// Begins after all members have announced their memory. Leaves everything undone if a member's
  /// memory is private.
  void begin() {
    begun = true;
    for (MemoryDescriptor member : members) {
      if (member.isPrivate()) {
        layout.leaveAllUndone();
        return;
      }
      bounces |= member.bounces();
    }
    published[rank] = parts;
    reduced[rank] = parts;
    directAt = layout.slice(rank);
    reduce = parts == 0 ? null : SliceKernel.of(group, layout, context, members);
  }

  /// Processes one piece, first of the parts for which other ranks wait. Returns the amount of work
  /// done.
  ///
  /// Hot path.
  int advance(Control control) {
    if (!begun || layout.isPrivate()) {
      return 0;
    }
    int work = work(control);
    tellHowFar(control);
    return work;
  }

  private int work(Control control) {
    if (reduce == null && combined < parts) {
      layout.leaveUndone(rank);
      combined = parts;
      control.tellReduced(UNREACHED);
      return 1;
    }
    if (copiedIn == combined && mayCopyIn()) {
      copyIn(control);
      return 1;
    }
    if (combined < parts && least(published) > combined) {
      return combine(control);
    }
    if (own.bounces() && copiedOut < copiedIn && least(reduced) > copiedOut) {
      if (!layout.scattered()) {
        own.copyOut(copiedOut);
      }
      copiedOut++;
      return 1;
    }
    if (mayCopyIn()) {
      copyIn(control);
      return 1;
    }
    return 0;
  }

  private boolean mayCopyIn() {
    return own.bounces() && copiedIn < parts && copiedIn - copiedOut < layout.window();
  }

  private void copyIn(Control control) {
    own.copyIn(copiedIn);
    copiedIn++;
    control.tellPublished(copiedIn);
  }

  private int combine(Control control) {
    SliceKernel running = reduce;
    if (running == null) {
      return 0;
    }
    if (bounces) {
      if (!running.reducePart(combined, members)) {
        return 0;
      }
      combined++;
      control.tellReduced(combined);
      return 1;
    }
    long end = layout.slice(rank + 1);
    long bytes = Math.min(layout.directBytes(), end - directAt);
    if (!running.reduce(directAt, bytes)) {
      return 0;
    }
    directAt += bytes;
    if (directAt == end) {
      combined = parts;
      control.tellReduced(parts);
    }
    return 1;
  }

  private static int least(int[] counts) {
    int least = Integer.MAX_VALUE;
    for (int count : counts) {
      least = Math.min(least, count);
    }
    return least;
  }

  /// Returns whether this rank needs no other memory any more, and no other rank needs this rank's.
  boolean isComplete() {
    return begun
        && (layout.isPrivate()
            || (combined == parts
                && (own.bounces() ? copiedOut == parts : least(reduced) == parts)));
  }

  /// Reports SENT and REDUCED. An allreduce sends its slice of the result, which it stores to all
  /// outputs. A reduceScatter sends its input, which all others combine.
  private void tellHowFar(Control control) {
    boolean reaches = reduce != null || parts == 0;
    boolean scatters = layout.scattered();
    if (!sent && reaches && (scatters ? least(reduced) == parts : combined == parts)) {
      sent = true;
      // Inputs of all others are read and, in an allreduce, their outputs are written.
      long slice = layout.slice(rank + 1) - layout.slice(rank);
      context.countMapped((scatters ? slice : 2 * slice) * (members.length - 1));
      control.tellStage(OperationStage.SENT);
    }
    if (!received && reaches && (scatters ? combined == parts : isComplete())) {
      received = true;
      control.tellStage(OperationStage.REDUCED);
    }
  }

  /// Returns whether this rank needs more from a member: from every member until this rank's slice
  /// is done.
  boolean needs(int member) {
    return !begun || (!layout.isPrivate() && (combined < parts || reduced[member] < parts));
  }

  /// Returns whether a member has further progress to announce.
  boolean expects(int member) {
    return published[member] < parts || reduced[member] < parts;
  }

  /// Returns whether a member has not combined its slice yet.
  boolean awaits(int member) {
    return begun && !layout.isPrivate() && reduced[member] < parts;
  }

  void release() {
    own.release();
  }

  void abandon() {
    own.abandon();
  }

  boolean isVisited() {
    return own.isVisited();
  }
}
