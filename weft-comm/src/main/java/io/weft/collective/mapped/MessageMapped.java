// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.mapped;

import io.weft.collective.exchange.CollectiveContext;
import io.weft.collective.exchange.RunningOperation;
import io.weft.collective.exchange.Stage;
import io.weft.collective.exchange.StageTask;
import io.weft.collective.frame.CollectiveFrame;
import io.weft.collective.frame.MemoryDescriptor;
import io.weft.observer.OperationStage;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import java.util.List;
import java.util.stream.IntStream;

/// An allreduce or reduceScatter on the memory of all ranks, controlled by messages. It serves
/// members that have begun their operations in different orders, which therefore do not meet in a
/// slot. All members announce their memory (SHARE), the parts in a bounce buffer (CREDIT) and the
/// combined parts (DONE). A rank with private memory continues with the next stage at once, and so
/// do the others when they learn this. Confined to the progress thread.
record MessageMapped(SliceLayout layout) implements Stage {

  @Override
  public StageTask task(RunningOperation operation, int stageIndex, CollectiveContext context) {
    return new Task(operation, layout, stageIndex, context);
  }

  private static final class Task implements StageTask, MappedLoop.Control {

    private final RunningOperation operation;
    private final SliceLayout layout;
    private final int stageIndex;
    private final CollectiveContext context;
    private final MappedLoop reduce;

    /// Members that have not announced their memory.
    private final BitSet silent = new BitSet();

    /// Members that have announced that they combined everything, or cannot.
    private final BitSet ended = new BitSet();

    private final int[] published;

    Task(
        RunningOperation operation, SliceLayout layout, int stageIndex, CollectiveContext context) {
      this.operation = operation;
      this.layout = layout;
      this.stageIndex = stageIndex;
      this.context = context;
      this.reduce = new MappedLoop(layout, operation.group(), context);
      this.published = new int[layout.size()];
      silent.set(0, layout.size());
      silent.clear(operation.group().rank());
    }

    @Override
    public RunningOperation operation() {
      return operation;
    }

    @Override
    public void start() {
      MemoryDescriptor own = reduce.expose(this);
      for (int peer : others()) {
        own.write(context.scratch(), CollectiveFrame.HEADER_BYTES);
        long body = own.isPrivate() ? 0 : MemoryDescriptor.REGION_BYTES;
        send(peer, CollectiveFrame.Type.SHARE, own.kind(), CollectiveFrame.HEADER_BYTES + body);
      }
      if (reduce.copiedIn() > 0) {
        tellPublished(reduce.copiedIn());
      }
      if (own.isPrivate()) {
        layout.leaveAllUndone();
      }
    }

    private int[] others() {
      int rank = operation.group().rank();
      int size = layout.size();
      return IntStream.range(1, size).map(d -> (rank + d) % size).toArray();
    }

    private void send(int peer, CollectiveFrame.Type type, int aux, long bytes) {
      context.send(operation, peer, type, stageIndex, aux, bytes);
    }

    @Override
    public void tellPublished(int parts) {
      for (int peer : others()) {
        send(peer, CollectiveFrame.Type.CREDIT, parts, CollectiveFrame.HEADER_BYTES);
      }
    }

    @Override
    public void tellReduced(int parts) {
      for (int peer : others()) {
        send(peer, CollectiveFrame.Type.DONE, parts, CollectiveFrame.HEADER_BYTES);
      }
    }

    @Override
    public void tellStage(OperationStage stage) {
      operation.reached(stage);
    }

    @Override
    public void onShare(int peer, MemorySegment frame) {
      int kind = CollectiveFrame.aux(frame);
      long least = CollectiveFrame.HEADER_BYTES + MemoryDescriptor.REGION_BYTES;
      if (!silent.get(peer)) {
        operation.brokenBy(peer, "a second offer of its memory");
      } else if (kind == MemoryDescriptor.PRIVATE) {
        silent.clear(peer);
        layout.leaveAllUndone();
      } else if (frame.byteSize() < least) {
        operation.brokenBy(peer, "an offer of " + frame.byteSize() + " bytes");
      } else {
        silent.clear(peer);
        reduce.told(peer, MemoryDescriptor.read(frame, CollectiveFrame.HEADER_BYTES, kind), 0);
        if (silent.isEmpty() && !layout.isPrivate()) {
          reduce.begin();
        }
      }
    }

    @Override
    public void onCredit(int peer, int parts) {
      if (silent.get(peer) || parts <= published[peer] || parts > reduce.parts()) {
        operation.brokenBy(peer, "credit for " + parts + " parts where no such credit is due");
        return;
      }
      published[peer] = parts;
      reduce.onPublished(peer, parts);
    }

    @Override
    public void onDone(int peer, MemorySegment frame) {
      int parts = CollectiveFrame.aux(frame);
      boolean possible = parts == MappedLoop.UNREACHED || (parts >= 0 && parts <= reduce.parts());
      if (silent.get(peer) || ended.get(peer) || layout.isPrivate() || !possible) {
        operation.brokenBy(peer, "a DONE that is not due");
        return;
      }
      if (parts == MappedLoop.UNREACHED || parts == reduce.parts()) {
        ended.set(peer);
      }
      reduce.onReduced(peer, parts);
    }

    @Override
    public int advance() {
      return reduce.advance(this);
    }

    @Override
    public boolean done() {
      return layout.isPrivate() || reduce.isComplete();
    }

    @Override
    public void release() {
      reduce.release();
    }

    @Override
    public boolean tryAbandon() {
      layout.leaveAllUndone(); // begins nothing new
      reduce.abandon();
      return !reduce.isVisited();
    }

    @Override
    public List<Integer> usedBy() {
      return reduce.isVisited() ? IntStream.of(others()).boxed().toList() : List.of();
    }

    @Override
    public boolean needs(int peer) {
      return !layout.isPrivate() && (silent.get(peer) || reduce.needs(peer));
    }

    @Override
    public List<Integer> waitingFor() {
      if (layout.isPrivate()) {
        return List.of();
      }
      return IntStream.of(others())
          .filter(peer -> silent.isEmpty() ? reduce.awaits(peer) : silent.get(peer))
          .boxed()
          .toList();
    }
  }
}
