// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.mapped;

import io.weft.collective.exchange.BufferLayout;
import io.weft.collective.exchange.CollectiveContext;
import io.weft.collective.exchange.RowPartition;
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

/// An exchange of ranks that share memory, in which each copies its parts directly from the others'
/// inputs. The next stage sends the parts that could not be copied, because an input is private or
/// cannot be mapped. Source and destination of such a part both know this. Confined to the progress
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

  /// The input of one rank for the others.
  ///
  /// @param input empty for a rank without input
  /// @param rows number of rows for each member
  /// @param offset start of the part for each member, in bytes
  /// @param rowBytes length of a row; equal for all members
  /// @param pieceBytes longest piece that is copied at once
  record Gift(MemorySegment input, long[] rows, long[] offset, long rowBytes, long pieceBytes) {}

  /// Creates the stage of one rank.
  ///
  /// @param sources members whose inputs others read
  /// @param destinations members that read them; a member that is also a source copies its own part
  ///   too
  /// @param result returns the memory for the announced rows by member, in the order of members;
  ///   may throw as `OperationPlan.stage`
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

  /// Returns the part of the input for this member.
  PartDescriptor part(int member, RemoteRegion region) {
    return new PartDescriptor(region, offset[member], rows[member]);
  }

  long pieceBytes() {
    return pieceBytes;
  }

  /// Returns whether this rank receives anything.
  boolean takes() {
    return destinations.get(rank);
  }

  /// Returns the members whose inputs this rank reads, including its own if it is also a source.
  BitSet sources() {
    return destinations.get(rank) ? (BitSet) sources.clone() : new BitSet();
  }

  /// Returns the other members that read this rank's input.
  BitSet readers() {
    BitSet readers = sources.get(rank) ? (BitSet) destinations.clone() : new BitSet();
    readers.clear(rank);
    return readers;
  }

  /// Records the number of rows that a member has for this rank, and whether its memory is private.
  void told(int member, long count, boolean isPrivate) {
    told[member] = count;
    if (isPrivate) {
      privates.set(member);
      missed.set(member);
    }
  }

  /// Records that this rank's input is private, so that this rank must send it.
  void keepPrivate() {
    privates.set(rank);
    unserved.or(readers());
  }

  /// Records that this member could not copy its part from this rank.
  void leaveUnserved(int member) {
    unserved.set(member);
  }

  /// Records that this rank could not copy its part from this member.
  void miss(int member) {
    missed.set(member);
  }

  /// Allocates the result after all sources have announced their parts. Throws `BadCount` and
  /// `OutOfMemoryError`.
  void prepare() {
    bytes = RowPartition.inBytesChecked(told, rowBytes);
    target = result.apply(told.clone());
  }

  /// Returns the number of bytes from this member; known after `prepare`.
  long bytes(int member) {
    return Objects.requireNonNull(bytes)[member];
  }

  /// Returns the memory for the bytes from this member.
  MemorySegment target(int member) {
    long[] known = Objects.requireNonNull(bytes);
    return Objects.requireNonNull(target)
        .asSlice(RowPartition.starts(known)[member], known[member]);
  }

  /// Returns this rank's part for itself.
  MemorySegment ownPart() {
    return input.asSlice(offset[rank], bytes(rank));
  }

  /// Returns the rows by member, complete after the stage.
  long[] told() {
    return told.clone();
  }

  /// Returns whether no member's input could be read. All ranks know this, so the next stage may
  /// use any schedule.
  boolean isPrivate() {
    return privates.equals(sources);
  }

  /// Returns the stage that sends the remaining parts from source to destination; null if there are
  /// none.
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
        into[chunk] = RowPartition.starts(Objects.requireNonNull(bytes))[source];
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
