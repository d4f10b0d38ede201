// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.mapped;

import io.weft.collective.Communicator.Received;
import io.weft.collective.choice.Segments;
import io.weft.collective.exchange.BadCount;
import io.weft.collective.exchange.BufferLayout;
import io.weft.collective.exchange.OperationPlan;
import io.weft.collective.exchange.Results;
import io.weft.collective.exchange.RowPartition;
import io.weft.collective.exchange.Stage;
import io.weft.collective.group.Group;
import io.weft.collective.mailbox.SharedMailboxes;
import io.weft.collective.plan.RankSchedule;
import io.weft.collective.wire.WireStage;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// The stages of each collective for ranks that share memory: first on tensors in place, then on
/// the wire for anything left undone.
public final class MappedPlans {

  private MappedPlans() {}

  /// The properties of the communicator that a reduction needs.
  ///
  /// @param schedules returns the schedule of a named algorithm; called only if a part of the
  ///   reduction uses the wire
  /// @param onWire algorithm for the case that some rank's memory is private
  /// @param ofSlices algorithm for the slices of ranks that could not combine them
  /// @param direct segments where all tensors can be accessed
  /// @param bounced segments where a tensor passes through a bounce buffer
  public record Context(
      SharedMailboxes mailboxes,
      Group group,
      Function<String, RankSchedule> schedules,
      String onWire,
      String ofSlices,
      Segments direct,
      Segments bounced) {

    private RankSchedule wire() {
      return schedules.apply(onWire);
    }

    /// Returns the schedule for the slices of ranks that could not combine them.
    private RankSchedule slices() {
      return schedules.apply(ofSlices);
    }

    private SliceLayout.SegmentsOfBoth segments() {
      return new SliceLayout.SegmentsOfBoth(direct, bounced);
    }
  }

  /// Creates an allreduce. The tensors have equal length, and are the same memory or disjoint.
  public static MappedPlan<TensorView> allreduce(
      Context context, TensorView input, TensorView output, ReduceOp op) {
    int size = context.group().size();
    var sum = SliceLayout.Arithmetic.of(input.dtype(), op, size);
    var layout = SliceLayout.allreduce(input.data(), output.data(), sum, size, context.segments());
    var first = new MailboxMapped(context.mailboxes(), context.group(), layout);
    return new MappedPlan<>(
        first,
        first::byMessages,
        () -> rest(context, layout, input, output),
        () -> output,
        () -> {});
  }

  private static @Nullable Stage rest(
      Context context, SliceLayout layout, TensorView input, TensorView output) {
    if (layout.undone().isEmpty()) {
      return null;
    }
    if (!layout.isPrivate()) {
      return combining(context.slices(), layout.rest(output.data()), layout.arithmetic());
    }
    RankSchedule wire = context.wire();
    BufferLayout place =
        BufferLayout.even(input.data(), output.data(), wire.chunks(), input.dtype().bytes());
    return combining(wire, place, layout.arithmetic());
  }

  private static Stage combining(
      RankSchedule schedule, BufferLayout place, SliceLayout.Arithmetic sum) {
    return new WireStage(schedule, place, sum.reducer(), sum.dtype(), sum.divisor());
  }

  /// Creates a reduceScatter. Remaining slices are combined in a scratch of the input's size.
  public static MappedPlan<TensorView> reduceScatter(
      Context context, TensorView input, TensorView output, ReduceOp op, Results results) {
    Group group = context.group();
    int rank = group.rank();
    int size = group.size();
    long[] each = RowPartition.even(input.shape().dims().getFirst(), size);
    long[] bytes = RowPartition.inBytes(each, RowPartition.rowBytes(input));
    long[] slices = Arrays.copyOf(RowPartition.starts(bytes), size + 1);
    slices[size] = input.bytes();
    var sum = SliceLayout.Arithmetic.of(input.dtype(), op, size);
    var layout =
        SliceLayout.reduceScatter(input.data(), output.data(), sum, slices, context.segments());
    var first = new MailboxMapped(context.mailboxes(), group, layout);
    var scratch = new Kept();
    return new MappedPlan<>(
        first,
        first::byMessages,
        () -> {
          if (layout.undone().isEmpty()) {
            return null;
          }
          TensorLease room = scratch.keep(results.allocate(input, input.shape()));
          BufferLayout place = layout.rest(room.view().data());
          return combining(layout.isPrivate() ? context.wire() : context.slices(), place, sum);
        },
        () -> {
          if (layout.undone().get(rank)) {
            MemorySegment combined = scratch.kept().view().data();
            output.data().copyFrom(combined.asSlice(slices[rank], bytes[rank]));
          }
          scratch.free();
          return output;
        },
        scratch::free);
  }

  /// Creates a broadcast. A private tensor is sent by `schedule`.
  ///
  /// @param pieceBytes longest piece that is copied at once
  public static OperationPlan<TensorView> broadcast(
      RankSchedule schedule, TensorView inOut, int root, Group group, long pieceBytes) {
    int size = group.size();
    boolean isRoot = group.rank() == root;
    BitSet destinations = all(size);
    destinations.clear(root);
    long[] whole = new long[size];
    Arrays.fill(whole, isRoot ? 1 : 0);
    var gift =
        new OneSidedCopyStage.Gift(
            isRoot ? inOut.data() : MemorySegment.NULL,
            whole,
            new long[size],
            inOut.bytes(),
            pieceBytes);
    var copy =
        new OneSidedCopyStage(
            group, only(root), destinations, gift, told -> oneWhole(told[root], root, inOut));
    return new TwoStages<>(
        copy,
        () -> copy.isPrivate() ? WireStage.spreading(schedule, inOut) : copy.rest(inOut.dtype()),
        () -> inOut,
        () -> {});
  }

  private static MemorySegment oneWhole(long told, int root, TensorView inOut) {
    if (told != 1) {
      throw new BadCount(root, told, inOut.bytes());
    }
    return inOut.data();
  }

  private static BitSet all(int size) {
    BitSet all = new BitSet(size);
    all.set(0, size);
    return all;
  }

  private static BitSet only(int member) {
    BitSet only = new BitSet();
    only.set(member);
    return only;
  }

  /// Creates an allgather. If all tensors are private, they are sent by `schedule`.
  ///
  /// @param pieceBytes longest piece that is copied at once
  public static OperationPlan<TensorLease> allgather(
      RankSchedule schedule, TensorView input, Group group, Results results, long pieceBytes) {
    int size = group.size();
    long[] rows = new long[size];
    Arrays.fill(rows, input.shape().dims().getFirst());
    var gift =
        new OneSidedCopyStage.Gift(
            input.data(), rows, new long[size], RowPartition.rowBytes(input), pieceBytes);
    var gathered = new Kept();
    var copy =
        new OneSidedCopyStage(group, all(size), all(size), gift, gathered.room(input, results));
    return new TwoStages<>(
        copy,
        () ->
            copy.isPrivate()
                ? ofAll(schedule, copy, input, group.rank(), gathered)
                : copy.rest(input.dtype()),
        gathered::kept,
        gathered::free);
  }

  private static Stage ofAll(
      RankSchedule schedule, OneSidedCopyStage copy, TensorView input, int rank, Kept gathered) {
    long[] bytes = RowPartition.inBytes(copy.told(), RowPartition.rowBytes(input));
    long[] source = new long[bytes.length];
    Arrays.fill(source, -1);
    source[rank] = 0;
    MemorySegment target = gathered.kept().view().data();
    BufferLayout place =
        new BufferLayout(input.data(), source, target, RowPartition.starts(bytes), bytes, true);
    return new WireStage(schedule, place, null, input.dtype(), 1);
  }

  /// Creates an alltoall, in which each rank copies its parts.
  ///
  /// @param pieceBytes longest piece that is copied at once
  public static OperationPlan<Received> alltoall(
      TensorView input, List<Long> splits, Group group, Results results, long pieceBytes) {
    int size = group.size();
    long rowBytes = RowPartition.rowBytes(input);
    long[] rows = splits.stream().mapToLong(Long::longValue).toArray();
    long[] offset = RowPartition.starts(RowPartition.inBytes(rows, rowBytes));
    var gift = new OneSidedCopyStage.Gift(input.data(), rows, offset, rowBytes, pieceBytes);
    var received = new Kept();
    var copy =
        new OneSidedCopyStage(group, all(size), all(size), gift, received.room(input, results));
    return new TwoStages<>(
        copy,
        () -> copy.rest(input.dtype()),
        () -> new Received(received.kept(), Arrays.stream(copy.told()).boxed().toList()),
        received::free);
  }

  /// A tensor that an operation allocates, and frees on failure.
  private static final class Kept {

    private @Nullable TensorLease lease;

    TensorLease keep(TensorLease fresh) {
      lease = fresh;
      return fresh;
    }

    /// Returns a function from the announced rows per member to memory for a tensor like this one.
    Function<long[], MemorySegment> room(TensorView like, Results results) {
      return told -> keep(results.gathered(like, told)).view().data();
    }

    TensorLease kept() {
      return Objects.requireNonNull(lease);
    }

    void free() {
      if (lease != null) {
        lease.close();
      }
    }
  }
}
