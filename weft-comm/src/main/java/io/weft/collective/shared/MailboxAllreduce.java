// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.shared;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.weft.collective.exchange.OperationPlan;
import io.weft.collective.exchange.Stage;
import io.weft.collective.frame.CollectiveFrame;
import io.weft.collective.frame.MemoryDescriptor;
import io.weft.collective.group.Group;
import io.weft.collective.message.WireStage;
import io.weft.collective.plan.AlgorithmPlan;
import io.weft.collective.slot.MailboxSlots;
import io.weft.collective.slot.MailboxStage;
import io.weft.collective.slot.SharedMailboxes;
import io.weft.tensor.TensorView;
import io.weft.transport.RemoteRegion;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// An allreduce of a short tensor on the memory of all ranks, in which no message travels: each
/// member shows in its slot where its tensors lie, does its slice of all, adds to its slot that it
/// has done it, and waits until all have. It is what `MappedReduceTask` does by messages, which
/// take a multiple of the time that so few bytes do.
///
/// Two members with very short tensors do not share the work: each does all for itself. With
/// somewhat longer ones they show windows, whatever their memory is.
///
/// Where a tensor is private a window stands in for it. If there is none for somebody's, all see
/// it, and all go on by messages. A member that cannot map another's memory says so in place of its
/// end; its slice is left to a ring.
final class MailboxAllreduce extends MailboxStage<TensorView> {

  /// Longest tensor, of which each member has a few pieces at most to do. Of longer ones messages
  /// cost little.
  private static final long LONGEST_BYTES = 1 << 20;

  /// Up to this length each of two members reads all of both inputs and stores its own output only:
  /// to store to lines that the other's first-level cache holds takes longer than to read them.
  private static final long ALONE_BYTES = 32 << 10;

  /// From there to this length each of two members shows a window, whatever its memory: half of the
  /// tensor then never leaves its own cache.
  private static final long INDIRECT_BYTES = 64 << 10;

  // What is shown: what kind of memory it is, the regions of input and output, how it has ended.
  private static final long KIND = 0;
  private static final long INPUT = 8;
  private static final long OUTPUT = INPUT + RemoteRegion.WIRE_BYTES;
  private static final long END = OUTPUT + RemoteRegion.WIRE_BYTES;
  private static final long BYTES = END + Long.BYTES;

  private static final long PRIVATE = 0;

  private static final long DONE = 1;
  private static final long UNREACHED = 2;

  private final Group group;
  private final MappedReduceStage stage;
  private final TensorView tensor;
  private final TensorView result;
  private final String apart;
  private final BitSet working = new BitSet();
  private @Nullable ExposedMemory memory;
  private @Nullable SliceReduce reduce;
  private boolean begun;
  private boolean alone;
  private boolean told;

  /// Tensors of equal length, the same memory or apart.
  ///
  /// @param apart the algorithm that private tensors take
  MailboxAllreduce(
      SharedMailboxes mailboxes,
      Group group,
      TensorView tensor,
      TensorView result,
      MappedReduceStage.Arithmetic sum,
      String apart) {
    super(mailboxes);
    this.group = group;
    this.tensor = tensor;
    this.result = result;
    this.apart = apart;
    this.stage = MappedReduceStage.allreduce(tensor.data(), result.data(), sum, group.size());
  }

  /// Whether tensors of so many bytes go so, among so many members that may share memory.
  static boolean takes(long bytes, int members) {
    return bytes > 0 && bytes <= LONGEST_BYTES && members <= 16;
  }

  @Override
  public MemorySegment published(MailboxSlots slots) {
    ExposedMemory own = new ExposedMemory(stage, slots.context());
    memory = own;
    long bytes = stage.input().byteSize();
    boolean indirect = group.size() == 2 && bytes > ALONE_BYTES && bytes <= INDIRECT_BYTES;
    boolean mappable = own.register(group.rank(), this, indirect);
    BounceBuffer bounceBuffer = own.bounceBuffer();
    while (bounceBuffer != null && !bounceBuffer.isPublished()) {
      bounceBuffer.publish();
    }
    MemorySegment offer = slots.context().scratch().asSlice(0, BYTES);
    offer.set(JAVA_LONG, KIND, mappable ? own.kind() : PRIVATE);
    CollectiveFrame.region(offer, INPUT, own.input());
    CollectiveFrame.region(offer, OUTPUT, own.output());
    offer.set(JAVA_LONG, END, 0);
    return offer;
  }

  @Override
  public boolean proceed(MailboxSlots slots, long number) {
    if (!begun && !begin(slots, number)) {
      leaveUndone();
      return true;
    }
    if (!doSlice(slots, number) || !haveEnded(slots, number)) {
      return false;
    }
    BounceBuffer bounceBuffer = own().bounceBuffer();
    while (bounceBuffer != null && !bounceBuffer.isTaken()) {
      bounceBuffer.take();
    }
    return true;
  }

  /// False if somebody's memory is private.
  private boolean begin(MailboxSlots slots, long number) {
    int size = group.size();
    RemoteRegion[] inputs = new RemoteRegion[size];
    RemoteRegion[] outputs = new RemoteRegion[size];
    alone = size == 2 && stage.input().byteSize() <= ALONE_BYTES;
    for (int m = 0; m < size; m++) {
      MemorySegment offer = slots.contribution(m, number, BYTES);
      long kind = offer.get(JAVA_LONG, KIND);
      if (kind == PRIVATE) {
        return false;
      }
      if (kind == MemoryDescriptor.STAND_IN) {
        stage.bounceBuffer();
      }
      inputs[m] = CollectiveFrame.region(offer, INPUT);
      outputs[m] = CollectiveFrame.region(offer, OUTPUT);
      alone &= kind == MemoryDescriptor.TENSORS && !outputs[m].equals(inputs[m]);
    }
    begun = true;
    working.set(0, size);
    working.clear(group.rank());
    reduce = SliceReduce.of(group, stage, slots.context(), inputs, outputs, alone);
    return true;
  }

  /// One piece of this rank's slice. Returns whether it is done and told.
  private boolean doSlice(MailboxSlots slots, long number) {
    if (told) {
      return true;
    }
    SliceReduce running = reduce;
    if (running == null) {
      miss(group.rank());
    } else if (!running.piece() || !running.done()) {
      return false;
    }
    told = true;
    slots.tell(number, END, running == null ? UNREACHED : DONE);
    return true;
  }

  /// A member could not reach the others' memory. Where each works for itself alone, all begin
  /// anew, since nothing but outputs has changed.
  private void miss(int member) {
    if (alone) {
      leaveUndone();
    } else {
      stage.leaveUndone(member);
    }
  }

  private ExposedMemory own() {
    return Objects.requireNonNull(memory, "shown before");
  }

  private boolean haveEnded(MailboxSlots slots, long number) {
    for (int m = working.nextSetBit(0); m >= 0; m = working.nextSetBit(m + 1)) {
      long end = slots.told(m, number, END);
      if (end == 0) {
        return false;
      }
      BounceBuffer bounceBuffer = own().bounceBuffer();
      if (end != DONE) {
        miss(m);
      } else if (bounceBuffer != null) {
        bounceBuffer.arrived(m);
      }
      working.clear(m);
    }
    return true;
  }

  @Override
  protected boolean needs(MailboxSlots slots, int member, long number) {
    // Until this rank's slice is done, of everybody's memory: who has done his may fail and leave.
    return !told || !slots.hasTold(member, number, END);
  }

  @Override
  public boolean isUndone() {
    return super.isUndone() || !stage.undone().isEmpty();
  }

  @Override
  public void release() {
    if (memory != null) {
      memory.release();
    }
  }

  @Override
  protected void abandon() {
    if (memory != null) {
      memory.abandon();
    }
  }

  @Override
  protected boolean isVisited() {
    return memory != null && memory.isVisited();
  }

  @Override
  public TensorView result() {
    return result;
  }

  @Override
  public OperationPlan<TensorView> plan(Function<String, AlgorithmPlan> plans) {
    return new OperationPlan<>() {
      private @Nullable OperationPlan<TensorView> byMessages;

      @Override
      public @Nullable Stage stage(int phase) {
        if (phase == 0) {
          return MailboxAllreduce.this;
        }
        if (!isUndone()) {
          return null;
        }
        if (stage.undone().isEmpty()) {
          OperationPlan<TensorView> others = byMessages;
          if (others == null) {
            others =
                MappedPlans.allreduce(
                    plans, apart, tensor, result, stage.arithmetic(), stage.size());
            byMessages = others;
          }
          return others.stage(phase - 1);
        }
        return phase == 1 ? rest(plans.apply("ring")) : null;
      }

      @Override
      public TensorView result() {
        return result;
      }

      @Override
      public void discard() {
        // Nothing was allocated.
      }
    };
  }

  private Stage rest(AlgorithmPlan ring) {
    MappedReduceStage.Arithmetic sum = stage.arithmetic();
    return new WireStage(
        ring, stage.rest(result.data()), sum.reducer(), sum.dtype(), sum.divisor());
  }
}
