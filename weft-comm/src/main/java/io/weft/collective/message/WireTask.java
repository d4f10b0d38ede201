// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.message;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.weft.cluster.TokenOwner;
import io.weft.collective.choice.Segments;
import io.weft.collective.exchange.CollectiveContext;
import io.weft.collective.exchange.RunningOperation;
import io.weft.collective.exchange.StageTask;
import io.weft.collective.frame.CollectiveFrame;
import io.weft.collective.frame.Grant;
import io.weft.collective.plan.AlgorithmPlan;
import io.weft.collective.plan.AlgorithmPlan.Receiving;
import io.weft.observer.OperationStage;
import io.weft.transport.MemoryRegion;
import io.weft.transport.RemoteRegion;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// An exchange by messages and writes: a data-flow machine over the plan.
///
/// Vocabulary: a *run* of chunks is what one step moves; it travels in *segments*. A run up to the
/// eager limit travels inside a message; a longer one is written into the peer's memory after the
/// peer has granted it: to be combined, into a *staging* window of a few segments that is used
/// round and round, with credit for the slots that are free again; to be copied, straight into the
/// peer's result. The immediate value of a write is the token of the receiver's exchange.
///
/// A peer's write into our result cannot come too early: what it brings depends on every
/// contribution, so also on what we sent from that place. Confined to the progress thread.
final class WireTask implements StageTask, TokenOwner {

  private final RunningOperation operation;
  private final WireStage stage;
  private final int phase;
  private final CollectiveContext context;
  private final int token;
  private final Incoming[] incoming;
  private final long[] appliedBytes;
  private final int[] arrivedSegments;
  private final Segments segments;
  private final WireBuffers memory;
  private final Departures departures;

  /// Peers that are to tell that they have entered, and have not.
  private final BitSet outside = new BitSet();

  // Told to the observer.
  private boolean sent;
  private boolean reduced;

  WireTask(RunningOperation operation, WireStage stage, int phase, CollectiveContext context) {
    this.operation = operation;
    this.stage = stage;
    this.phase = phase;
    this.context = context;
    AlgorithmPlan plan = stage.plan();
    this.segments = context.segments(operation, plan);
    this.memory = new WireBuffers(stage, context, segments, context.eagerBytes(operation));
    this.incoming = new Incoming[plan.incoming().size()];
    for (int i = 0; i < incoming.length; i++) {
      AlgorithmPlan.Stream stream = plan.incoming().get(i);
      incoming[i] = new Incoming(stream.peer(), stream.steps(), segments.inFlight());
    }
    this.appliedBytes = new long[plan.receives().size()];
    this.arrivedSegments = new int[plan.receives().size()];
    this.departures =
        new Departures(
            operation, stage, phase, context, memory, segments, appliedBytes, arrivedSegments);
    this.token = context.tokens().take(this);
    if (stage.entered()) {
      departures.ungranted().forEach(outside::set);
    }
  }

  @Override
  public void start() {
    memory.copyUntouched();
    for (Incoming in : incoming) {
      if (needsGrant(in.receives)) {
        grant(in);
      } else if (stage.entered()) {
        context.send(
            operation,
            in.peer,
            CollectiveFrame.Type.ENTERED,
            phase,
            0,
            CollectiveFrame.HEADER_BYTES);
      }
    }
  }

  @Override
  public RunningOperation operation() {
    return operation;
  }

  @Override
  public boolean done() {
    return departures.done() && outside.isEmpty() && received();
  }

  private boolean received() {
    for (Incoming in : incoming) {
      if (!in.acknowledged()) {
        return false;
      }
    }
    return true;
  }

  @Override
  public List<Integer> usedBy() {
    return departures.writingTo();
  }

  @Override
  public void release() {
    context.tokens().free(token);
    for (Incoming in : incoming) {
      MemoryRegion staging = in.staging;
      if (staging != null) {
        context.staging().giveBack(staging);
        in.staging = null;
      }
    }
    memory.release();
  }

  /// Not before the transport has read what it was told to write. Peers may still write into the
  /// staging windows, so these are not used again.
  @Override
  public boolean tryAbandon() {
    if (departures.writesOut()) {
      return false;
    }
    for (Incoming in : incoming) {
      MemoryRegion staging = in.staging;
      if (staging != null) {
        context.staging().forget(staging);
        in.staging = null;
      }
    }
    release();
    return true;
  }

  @Override
  public boolean mayEndWithoutTheLost() {
    return false;
  }

  @Override
  public boolean needs(int peer) {
    Incoming in = incomingFrom(peer);
    return (in != null && due(in) != null) || departures.hasPending(peer) || outside.get(peer);
  }

  @Override
  public List<Integer> waitingFor() {
    return Stream.of(
            Arrays.stream(incoming).filter(in -> !in.acknowledged()).map(in -> in.peer),
            departures.waitingFor(),
            outside.stream().boxed())
        .flatMap(peers -> peers)
        .distinct()
        .sorted()
        .toList();
  }

  // --- what arrives

  @Override
  public void onEntered(int peer) {
    outside.clear(peer);
  }

  @Override
  public void onGrant(int peer, MemorySegment frame) {
    departures.onGrant(peer, frame);
  }

  @Override
  public void onCredit(int peer, int slots) {
    departures.onCredit(peer, slots);
  }

  @Override
  public boolean onWritten(int fromRank) {
    int member = operation.group().member(fromRank);
    if (member < 0) {
      return false;
    }
    operation.heard(member);
    try {
      onWrite(member);
    } catch (RuntimeException | Error thrown) {
      operation.broken(thrown);
    }
    return true;
  }

  private void onWrite(int peer) {
    Incoming in = incomingFrom(peer);
    Receiving due = in == null ? null : due(in);
    if (in == null || due == null || memory.eager(due)) {
      operation.brokenBy(peer, "a write that its schedule does not have");
      return;
    }
    if (due.reduce() && ++in.stagedArrived - in.stagedApplied > in.slots) {
      operation.brokenBy(peer, "a write to a slot of its window that is not free");
      return;
    }
    arrived(in, due);
    apply(in, null);
  }

  @Override
  public void onEager(int peer, MemorySegment body) {
    Incoming in = incomingFrom(peer);
    Receiving due = in == null ? null : due(in);
    if (in == null || due == null || !memory.eager(due)) {
      operation.brokenBy(peer, "a segment that its schedule does not have");
      return;
    }
    long bytes = memory.bytes(due, in.dueSegment);
    if (body.byteSize() != bytes) {
      operation.brokenBy(peer, "a segment of " + body.byteSize() + " bytes, not " + bytes);
      return;
    }
    arrived(in, due);
    if (in.applied + 1 < in.arrived || !apply(in, body)) {
      in.eager.addLast(body.toArray(JAVA_BYTE));
    }
  }

  /// What this peer sends next, null if it has sent all.
  private @Nullable Receiving due(Incoming in) {
    return in.dueReceive == in.receives.length
        ? null
        : stage.plan().receives().get(in.receives[in.dueReceive]);
  }

  private void arrived(Incoming in, Receiving due) {
    in.arrived++;
    arrivedSegments[in.receives[in.dueReceive]]++;
    in.dueSegment++;
    if (in.dueSegment == memory.segments(due)) {
      in.dueSegment = 0;
      in.dueReceive++;
    }
  }

  // --- progress

  @Override
  public int advance() {
    int work = 0;
    int before;
    do {
      before = work;
      for (Incoming in : incoming) {
        int applied = in.applied;
        if (in.arrived > applied) {
          var unused = apply(in, null);
          work += in.applied - applied;
        }
      }
      work += departures.post();
    } while (work > before);
    tellHowFar();
    return work;
  }

  /// What comes is applied where it comes, so this is asked also when there was nothing to do here.
  private void tellHowFar() {
    if (!sent && departures.done()) {
      sent = true;
      operation.reached(OperationStage.SENT);
    }
    if (!reduced && received()) {
      reduced = true;
      operation.reached(OperationStage.REDUCED);
    }
  }

  /// Applies arrived segments in order. `body` holds the newest one if it came in a message and has
  /// not been kept yet; returns whether that one was applied.
  private boolean apply(Incoming in, @Nullable MemorySegment body) {
    while (in.applied < in.arrived && !in.acknowledged()) {
      int index = in.receives[in.position];
      Receiving receiving = stage.plan().receives().get(index);
      if (!mayApply(receiving, in.segment)) {
        return false;
      }
      long bytes = memory.bytes(receiving, in.segment);
      if (memory.eager(receiving)) {
        byte[] kept = in.eager.pollFirst();
        MemorySegment from = kept != null ? context.land(kept) : body;
        if (from == null) {
          return false;
        }
        memory.combine(receiving, in.segment, from, 0, bytes);
      } else if (receiving.reduce()) {
        long slot = in.stagedApplied % in.slots;
        MemorySegment window = Objects.requireNonNull(in.staging).segment();
        memory.combine(receiving, in.segment, window, segments.offset(slot), bytes);
        in.stagedApplied++;
        credit(in);
      }
      appliedBytes[index] += bytes;
      in.applied++;
      in.segment++;
      if (in.segment == memory.segments(receiving)) {
        appliedBytes[index] = Long.MAX_VALUE;
        in.segment = 0;
        in.position++;
      }
    }
    return true;
  }

  private boolean mayApply(Receiving receiving, int segment) {
    for (int before : receiving.needs()) {
      if (memory.waits(
          receiving, segment, stage.plan().receives().get(before), appliedBytes[before])) {
        return false;
      }
    }
    if (receiving.reduce() || memory.eager(receiving)) {
      for (int send : receiving.after()) {
        if (!departures.hasLeft(send, receiving, segment)) {
          return false;
        }
      }
    }
    return true;
  }

  private void credit(Incoming in) {
    in.uncredited++;
    if (in.uncredited * 2 >= in.slots) {
      context.send(
          operation,
          in.peer,
          CollectiveFrame.Type.CREDIT,
          phase,
          in.uncredited,
          CollectiveFrame.HEADER_BYTES);
      in.uncredited = 0;
    }
  }

  // --- grants

  private boolean needsGrant(int[] receives) {
    for (int r : receives) {
      if (!memory.eager(stage.plan().receives().get(r))) {
        return true;
      }
    }
    return false;
  }

  private void grant(Incoming in) {
    long windowBytes = windowBytes(in);
    if (windowBytes > 0) {
      in.staging = context.staging().lease(windowBytes);
    }
    RemoteRegion target = memory.targetRegion().export();
    RemoteRegion window = in.staging == null ? target : in.staging.export();
    BufferLayout place = stage.layout();
    int first = stage.plan().receives().get(in.receives[0]).chunk();
    long base = place.uniform() ? 0 : place.targetOffset()[first];
    new Grant(window, target, base, windowBytes > 0 ? in.slots : 0, segments.bytes())
        .write(context.scratch());
    context.send(operation, in.peer, CollectiveFrame.Type.GRANT, phase, token, Grant.MESSAGE_BYTES);
  }

  /// How much of a window the segments that are to be combined reach; 0 if there are none.
  private long windowBytes(Incoming in) {
    long most = 0;
    int slot = 0;
    for (int r : in.receives) {
      Receiving receiving = stage.plan().receives().get(r);
      int staged = receiving.reduce() && !memory.eager(receiving) ? memory.segments(receiving) : 0;
      for (int s = 0; s < staged && slot < in.slots; s++) {
        most = Math.max(most, segments.offset(slot++) + memory.bytes(receiving, s));
      }
      if (slot == in.slots) {
        return segments.offset(slot);
      }
    }
    return most;
  }

  private @Nullable Incoming incomingFrom(int peer) {
    for (Incoming in : incoming) {
      if (in.peer == peer) {
        return in;
      }
    }
    return null;
  }
}
