// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.mapped;

import io.weft.collective.exchange.CollectiveContext;
import io.weft.collective.frame.MemoryDescriptor;
import io.weft.collective.group.Group;
import io.weft.observer.OperationStage;
import org.jspecify.annotations.Nullable;

/// An allreduce or reduceScatter on the memory of all ranks, as it runs on one: all say where their
/// tensors lie, each combines its slice of all of them, all say that they have. Where a tensor is
/// private, a bounce buffer takes its place, part by part: its rank publishes a part when it has
/// copied it in, and copies it out when all have combined their pieces of it. How ranks hear of
/// each other is the `Control`'s.
///
/// A peer touches memory only between its descriptor and the last word of that peer, in visits of a
/// bounded length, and none after its region is closed: so a failed operation closes its regions,
/// and ends when the last visit does. Confined to the progress thread.
final class MappedLoop {

  /// In place of the number of parts that a member has combined: it cannot reach somebody's memory.
  static final int UNREACHED = -1;

  /// How this rank tells the others how far it is.
  interface Control {

    /// So many parts stand in this rank's bounce buffer.
    void tellPublished(int parts);

    /// So many parts of this rank's slice are in all outputs; or `UNREACHED`.
    void tellReduced(int parts);

    /// Tells the observer of this rank.
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

  // Told to the observer.
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

  /// Registers this rank's memory, and copies the first part in where it bounces. Returns what the
  /// others are to be told.
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

  /// How many parts stand in this rank's bounce buffer at first.
  int copiedIn() {
    return copiedIn;
  }

  int parts() {
    return parts;
  }

  /// What a member has said of its memory, and how many parts stand in its bounce buffer.
  void told(int member, MemoryDescriptor memory, int partsPublished) {
    members[member] = memory;
    published[member] = memory.bounces() ? partsPublished : parts;
  }

  /// Another member's bounce buffer has so many parts; never fewer than before.
  void onPublished(int member, int partsPublished) {
    published[member] = Math.clamp(partsPublished, published[member], parts);
  }

  /// Another member has combined so many parts; or `UNREACHED`.
  void onReduced(int member, int partsReduced) {
    if (partsReduced == UNREACHED) {
      layout.leaveUndone(member);
      reduced[member] = parts;
    } else {
      reduced[member] = Math.clamp(partsReduced, reduced[member], parts);
    }
  }

  /// All have told. Whether all memory can be reached, or nothing is done.
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

  /// Works on one piece: of what others wait for first. Returns the amount of work done.
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

  /// Whether nobody's memory is needed any more, nor this rank's by anybody.
  boolean isComplete() {
    return begun
        && (layout.isPrivate()
            || (combined == parts
                && (own.bounces() ? copiedOut == parts : least(reduced) == parts)));
  }

  /// What an allreduce sends is its slice of the result, stored to all outputs; what a
  /// reduceScatter sends is its input, which all others combine.
  private void tellHowFar(Control control) {
    boolean reaches = reduce != null || parts == 0;
    boolean scatters = layout.scattered();
    if (!sent && reaches && (scatters ? least(reduced) == parts : combined == parts)) {
      sent = true;
      // Of its slice, the others' inputs are read and, unless each keeps its own, outputs written.
      long slice = layout.slice(rank + 1) - layout.slice(rank);
      context.countMapped((scatters ? slice : 2 * slice) * (members.length - 1));
      control.tellStage(OperationStage.SENT);
    }
    if (!received && reaches && (scatters ? combined == parts : isComplete())) {
      received = true;
      control.tellStage(OperationStage.REDUCED);
    }
  }

  /// Whether more must come from a member: until this rank's slice is done, of all.
  boolean needs(int member) {
    return !begun || (!layout.isPrivate() && (combined < parts || reduced[member] < parts));
  }

  /// Whether a member has more to say.
  boolean expects(int member) {
    return published[member] < parts || reduced[member] < parts;
  }

  /// Whether a member has not combined its slice yet.
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
