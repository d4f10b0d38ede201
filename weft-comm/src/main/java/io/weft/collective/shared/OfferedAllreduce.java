// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.shared;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.weft.collective.exchange.Script;
import io.weft.collective.exchange.Stage;
import io.weft.collective.frame.Frame;
import io.weft.collective.frame.Share;
import io.weft.collective.group.Group;
import io.weft.collective.message.WireStage;
import io.weft.collective.plan.Plan;
import io.weft.collective.slot.SlotBoard;
import io.weft.collective.slot.SlotBoards;
import io.weft.collective.slot.SlotStage;
import io.weft.collective.slot.Slots;
import io.weft.tensor.TensorView;
import io.weft.transport.RemoteRegion;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// An allreduce of a short tensor on the memory of all ranks, in which no message travels: each
/// member shows in its slot where its tensors lie, does its slice of all, adds to its slot that it
/// has done it, and waits until all have. It is what `SharedExchange` does by messages, which take
/// a multiple of the time that so few bytes do.
///
/// Two members with very short tensors do not share the work: each does all for itself. With
/// somewhat longer ones they show windows, whatever their memory is.
///
/// Where a tensor is private a window stands in for it. If there is none for somebody's, all see
/// it, and all go on by messages. A member that cannot map another's memory says so in place of its
/// end; its slice is left to a ring.
final class OfferedAllreduce extends SlotStage<TensorView> {

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
  private final SharedStage stage;
  private final TensorView tensor;
  private final TensorView result;
  private final String apart;
  private final BitSet working = new BitSet();
  private @Nullable ShownMemory memory;
  private @Nullable DirectReduce reduce;
  private boolean begun;
  private boolean alone;
  private boolean told;

  /// Tensors of equal length, the same memory or apart.
  ///
  /// @param apart the algorithm that private tensors take
  OfferedAllreduce(
      SlotBoards boards,
      Group group,
      TensorView tensor,
      TensorView result,
      SharedStage.Arithmetic sum,
      String apart) {
    super(boards);
    this.group = group;
    this.tensor = tensor;
    this.result = result;
    this.apart = apart;
    this.stage = SharedStage.allreduce(tensor.data(), result.data(), sum, group.size());
  }

  /// Whether tensors of so many bytes go so, among so many members that may share memory.
  static boolean takes(long bytes, int members) {
    return bytes > 0 && bytes <= LONGEST_BYTES && members <= SlotBoard.MAX_MEMBERS;
  }

  @Override
  public MemorySegment shown(Slots slots) {
    ShownMemory own = new ShownMemory(stage, slots.wires());
    memory = own;
    long bytes = stage.input().byteSize();
    boolean indirect = group.size() == 2 && bytes > ALONE_BYTES && bytes <= INDIRECT_BYTES;
    boolean mappable = own.register(group.rank(), this, indirect);
    StandIn standIn = own.standIn();
    while (standIn != null && !standIn.isShown()) {
      standIn.show();
    }
    MemorySegment offer = slots.wires().scratch().asSlice(0, BYTES);
    offer.set(JAVA_LONG, KIND, mappable ? own.kind() : PRIVATE);
    Frame.region(offer, INPUT, own.input());
    Frame.region(offer, OUTPUT, own.output());
    offer.set(JAVA_LONG, END, 0);
    return offer;
  }

  @Override
  public boolean proceed(Slots slots, long number) {
    if (!begun && !begin(slots, number)) {
      leaveUndone();
      return true;
    }
    if (!doSlice(slots, number) || !haveEnded(slots, number)) {
      return false;
    }
    StandIn standIn = own().standIn();
    while (standIn != null && !standIn.isTaken()) {
      standIn.take();
    }
    return true;
  }

  /// False if somebody's memory is private.
  private boolean begin(Slots slots, long number) {
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
      if (kind == Share.STAND_IN) {
        stage.standIn();
      }
      inputs[m] = Frame.region(offer, INPUT);
      outputs[m] = Frame.region(offer, OUTPUT);
      alone &= kind == Share.TENSORS && !outputs[m].equals(inputs[m]);
    }
    begun = true;
    working.set(0, size);
    working.clear(group.rank());
    reduce = DirectReduce.of(group, stage, slots.wires(), inputs, outputs, alone);
    return true;
  }

  /// One piece of this rank's slice. Returns whether it is done and told.
  private boolean doSlice(Slots slots, long number) {
    if (told) {
      return true;
    }
    DirectReduce running = reduce;
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

  private ShownMemory own() {
    return Objects.requireNonNull(memory, "shown before");
  }

  private boolean haveEnded(Slots slots, long number) {
    for (int m = working.nextSetBit(0); m >= 0; m = working.nextSetBit(m + 1)) {
      long end = slots.told(m, number, END);
      if (end == 0) {
        return false;
      }
      StandIn standIn = own().standIn();
      if (end != DONE) {
        miss(m);
      } else if (standIn != null) {
        standIn.arrived(m);
      }
      working.clear(m);
    }
    return true;
  }

  @Override
  protected boolean needs(Slots slots, int member, long number) {
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
  public Script<TensorView> script(Function<String, Plan> plans) {
    return new Script<>() {
      private @Nullable Script<TensorView> byMessages;

      @Override
      public @Nullable Stage stage(int phase) {
        if (phase == 0) {
          return OfferedAllreduce.this;
        }
        if (!isUndone()) {
          return null;
        }
        if (stage.undone().isEmpty()) {
          Script<TensorView> others = byMessages;
          if (others == null) {
            others =
                SharedScripts.allreduce(
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

  private Stage rest(Plan ring) {
    SharedStage.Arithmetic sum = stage.arithmetic();
    return new WireStage(
        ring, stage.rest(result.data()), sum.reducer(), sum.dtype(), sum.divisor());
  }
}
