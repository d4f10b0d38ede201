// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.mapped;

import io.weft.collective.exchange.BufferLayout;
import io.weft.collective.exchange.CollectiveContext;
import io.weft.collective.exchange.Rows;
import io.weft.collective.exchange.RunningOperation;
import io.weft.collective.exchange.Stage;
import io.weft.collective.exchange.StageTask;
import io.weft.collective.frame.PartDescriptor;
import io.weft.collective.group.Group;
import io.weft.collective.plan.RankSchedule;
import io.weft.collective.wire.WireStage;
import io.weft.tensor.DType;
import io.weft.transport.RemoteRegion;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// An exchange of ranks that share memory, in which each takes its parts out of the others' inputs
/// where these lie. What cannot be taken so, because an input is private or cannot be mapped, the
/// next stage sends; who gives it and who is to get it both know that. Confined to the progress
/// thread.
final class OneSidedCopyStage implements Stage {

  private final int rank;
  private final int size;
  private final BitSet sources;
  private final BitSet destinations;
  private final MemorySegment input;
  private final long[] rows;
  private final long[] offset;
  private final long rowBytes;
  private final Function<long[], MemorySegment> result;
  private final long pieceBytes;
  private final long[] told;
  private final BitSet privates = new BitSet();
  private final BitSet missed = new BitSet();
  private final BitSet unserved = new BitSet();
  private long @Nullable [] bytes;
  private @Nullable MemorySegment target;

  /// What one rank has for the others.
  ///
  /// @param input empty where it has nothing
  /// @param rows of the part for each member
  /// @param offset of the part for each member, in bytes
  /// @param rowBytes the same for all members
  /// @param pieceBytes longest piece that is copied at once
  record Gift(MemorySegment input, long[] rows, long[] offset, long rowBytes, long pieceBytes) {}

  /// @param sources members whose inputs others read
  /// @param destinations members that read them; those that give and take copy their own part too
  /// @param result where what was told, rows by member, is to go, one member's behind the other's;
  ///   may throw what `Plan.stage` may
  OneSidedCopyStage(
      Group group,
      BitSet sources,
      BitSet destinations,
      Gift gift,
      Function<long[], MemorySegment> result) {
    this.rank = group.rank();
    this.size = group.size();
    this.sources = sources;
    this.destinations = destinations;
    this.input = gift.input();
    this.rows = gift.rows();
    this.offset = gift.offset();
    this.rowBytes = gift.rowBytes();
    this.pieceBytes = gift.pieceBytes();
    this.result = result;
    this.told = new long[size];
    if (sources.get(rank) && destinations.get(rank)) {
      told[rank] = rows[rank];
    }
  }

  @Override
  public StageTask task(RunningOperation operation, int stageIndex, CollectiveContext context) {
    return new OneSidedCopyTask(operation, this, stageIndex, context);
  }

  MemorySegment input() {
    return input;
  }

  /// What is in the input for this member.
  PartDescriptor part(int member, RemoteRegion region) {
    return new PartDescriptor(region, offset[member], rows[member]);
  }

  /// Longest piece that is copied at once.
  long pieceBytes() {
    return pieceBytes;
  }

  /// Whether this rank gets anything.
  boolean takes() {
    return destinations.get(rank);
  }

  /// Whose inputs this rank reads: its own too, where it gives and takes.
  BitSet sources() {
    return destinations.get(rank) ? (BitSet) sources.clone() : new BitSet();
  }

  /// The others that read this rank's input.
  BitSet readers() {
    BitSet readers = sources.get(rank) ? (BitSet) destinations.clone() : new BitSet();
    readers.clear(rank);
    return readers;
  }

  /// A member has said how many rows it has for this rank, and whether its memory is private.
  void told(int member, long count, boolean isPrivate) {
    told[member] = count;
    if (isPrivate) {
      privates.set(member);
      missed.set(member);
    }
  }

  /// This rank's input is private, so it has to send.
  void keepPrivate() {
    privates.set(rank);
    unserved.or(readers());
  }

  /// This member has not got what this rank has for it.
  void leaveUnserved(int member) {
    unserved.set(member);
  }

  /// What this member has for this rank was not to be had.
  void miss(int member) {
    missed.set(member);
  }

  /// All have told. Throws `BadCount` and `OutOfMemoryError`.
  void prepare() {
    bytes = Rows.inBytesChecked(told, rowBytes);
    target = result.apply(told.clone());
  }

  /// Bytes that come from this member, known once it is prepared.
  long bytes(int member) {
    return Objects.requireNonNull(bytes)[member];
  }

  /// Where they go.
  MemorySegment target(int member) {
    long[] known = Objects.requireNonNull(bytes);
    return Objects.requireNonNull(target).asSlice(Rows.starts(known)[member], known[member]);
  }

  /// This rank's own part of its own input.
  MemorySegment ownPart() {
    return input.asSlice(offset[rank], bytes(rank));
  }

  /// Rows by member, complete when the stage is.
  long[] told() {
    return told.clone();
  }

  /// Whether nobody's input could be read, which all ranks know, so that the usual way is free.
  boolean isPrivate() {
    return privates.equals(sources);
  }

  /// What is left to be sent, each part from its source to its destination; null if nothing is.
  @Nullable WireStage rest(DType dtype) {
    if (missed.isEmpty() && unserved.isEmpty()) {
      return null;
    }
    long[] length = new long[size * size];
    long[] from = new long[size * size];
    long[] into = new long[size * size];
    Arrays.fill(from, -1);
    Arrays.fill(into, -1);
    List<RankSchedule.Sending> sends = new ArrayList<>();
    List<RankSchedule.Receiving> receives = new ArrayList<>();
    for (int d = 1; d < size; d++) {
      int destination = (rank + d) % size;
      if (unserved.get(destination)) {
        int chunk = rank * size + destination;
        from[chunk] = offset[destination];
        length[chunk] = rows[destination] * rowBytes;
        sends.add(new RankSchedule.Sending(destination, chunk, 1, new int[0], false));
      }
      int source = (rank - d + size) % size;
      if (missed.get(source)) {
        int chunk = source * size + rank;
        into[chunk] = Rows.starts(Objects.requireNonNull(bytes))[source];
        length[chunk] = bytes(source);
        receives.add(
            new RankSchedule.Receiving(source, chunk, 1, false, new int[0], new int[0], false));
      }
    }
    MemorySegment whole = target == null ? MemorySegment.NULL : target;
    BufferLayout place = new BufferLayout(input, from, whole, into, length, false);
    return new WireStage(RankSchedule.of(size * size, sends, receives), place, null, dtype, 1);
  }
}
