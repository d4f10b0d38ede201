// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.wire;

import io.weft.collective.choice.Segments;
import io.weft.collective.exchange.BufferLayout;
import io.weft.collective.frame.CollectiveFrame;
import io.weft.collective.frame.Grant;
import io.weft.collective.plan.RankSchedule.Receiving;
import io.weft.collective.plan.RankSchedule.Run;
import io.weft.transport.MemoryRegion;
import io.weft.transport.RemoteRegion;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// What one peer sends this rank in one exchange: segments arrive in the order of the schedule, and
/// are applied in that order, as soon as what they change is not needed any more. Confined to the
/// progress thread.
final class ReceiveStream {

  private final WireExchange exchange;
  private final int peer;
  private final ReceiveStep[] steps;
  private final ArrayDeque<byte[]> kept = new ArrayDeque<>(0);

  /// The newest segment, where it came in a message that has not been kept yet.
  private @Nullable MemorySegment fresh;

  private @Nullable MemoryRegion staging;

  // Segments here, and of these applied.
  private int arrived;
  private int applied;

  // The segment to apply next: position in `steps`, segment of its run.
  private int position;
  private int segment;

  // The segment to arrive next.
  private int duePosition;
  private int dueSegment;

  // Staged segments here; of these applied; of these not yet given back as credit.
  private int stagedArrived;
  private int stagedApplied;
  private int uncredited;

  /// All receives from one peer, in order, by their numbers in the schedule.
  ReceiveStream(WireExchange exchange, int peer, int[] receives) {
    this.exchange = exchange;
    this.peer = peer;
    this.steps = new ReceiveStep[receives.length];
    int until = 0;
    for (int i = 0; i < receives.length; i++) {
      Receiving receiving = exchange.stage().schedule().receives().get(receives[i]);
      until += exchange.memory().segments(receiving);
      steps[i] = new ReceiveStep(receives[i], receiving, until);
    }
  }

  /// One receive.
  final class ReceiveStep {

    private final int number;
    private final Receiving receiving;

    /// Segments of this stream up to the end of this step.
    private final int until;

    private ReceiveStep[] needs = {};
    private SendStream.SendStep[] after = {};
    private @Nullable ReceiveTree tree;
    private long appliedBytes;

    ReceiveStep(int number, Receiving receiving, int until) {
      this.number = number;
      this.receiving = receiving;
      this.until = until;
    }

    int number() {
      return number;
    }

    Receiving receiving() {
      return receiving;
    }

    /// What must have been applied before, and what must have left before this changes it.
    void follows(ReceiveStep[] before, SendStream.SendStep[] sends) {
      needs = before;
      after = sends;
    }

    /// It is combined together with others.
    void joins(ReceiveTree with) {
      tree = with;
    }

    /// Whether as much has been applied as a segment of a run needs.
    boolean hasApplied(Run run, int segmentOfIt) {
      return !exchange.memory().waits(run, segmentOfIt, receiving, appliedBytes);
    }

    /// How many segments have come of this stream up to the end of this step.
    int arrivedUntil() {
      return Math.min(arrived, until);
    }

    boolean hasArrived() {
      return arrived >= until;
    }

    /// The segment of it to apply next.
    int nextSegment() {
      return segment;
    }

    /// Whether this segment of it is the next one of this stream to be applied, and has come.
    boolean isHere(int which) {
      return position < steps.length
          && steps[position] == this
          && segment == which
          && applied < arrived;
    }

    /// Where the segment lies that is the next one, which has come.
    ///
    /// @param place among those that are asked for at the same time
    MemorySegment memory(int place) {
      return exchange.memory().eager(receiving) ? body(place) : window();
    }

    /// Where in that memory it begins.
    long offset() {
      return exchange.memory().eager(receiving) ? 0 : exchange.segments().offset(slot());
    }

    /// The next segment has been combined with the others.
    void applied() {
      passes(this);
    }

    boolean mayApply(int which) {
      for (ReceiveStep before : needs) {
        if (!before.hasApplied(receiving, which)) {
          return false;
        }
      }
      if (receiving.reduce() || exchange.memory().eager(receiving)) {
        for (SendStream.SendStep send : after) {
          if (!send.hasLeft(receiving, which)) {
            return false;
          }
        }
      }
      return true;
    }
  }

  int peer() {
    return peer;
  }

  ReceiveStep[] steps() {
    return steps;
  }

  /// Whether everything is applied.
  boolean isDone() {
    return position == steps.length;
  }

  /// Whether more must arrive.
  boolean isDue() {
    return duePosition < steps.length;
  }

  // --- the window

  /// Lets the peer write, or tells it, where it waits for that, that this rank has entered.
  void start(int token) {
    if (needsGrant()) {
      grant(token);
    } else if (exchange.stage().entered()) {
      send(CollectiveFrame.Type.ENTERED, 0, CollectiveFrame.HEADER_BYTES);
    }
  }

  private boolean needsGrant() {
    for (ReceiveStep step : steps) {
      if (!exchange.memory().eager(step.receiving)) {
        return true;
      }
    }
    return false;
  }

  private void grant(int token) {
    long windowBytes = windowBytes();
    if (windowBytes > 0) {
      staging = exchange.context().staging().lease(windowBytes);
    }
    Segments segments = exchange.segments();
    RemoteRegion target = exchange.memory().targetRegion().export();
    RemoteRegion window = staging == null ? target : staging.export();
    BufferLayout layout = exchange.stage().layout();
    long base = layout.uniform() ? 0 : layout.targetOffset()[steps[0].receiving.chunk()];
    int slots = windowBytes > 0 ? segments.inFlight() : 0;
    new Grant(window, target, base, slots, segments.bytes()).write(exchange.context().scratch());
    send(CollectiveFrame.Type.GRANT, token, Grant.MESSAGE_BYTES);
  }

  /// How much of a window the segments that are to be combined reach; 0 if there are none.
  private long windowBytes() {
    WireBuffers memory = exchange.memory();
    Segments segments = exchange.segments();
    long most = 0;
    int slot = 0;
    for (ReceiveStep step : steps) {
      Receiving receiving = step.receiving;
      int staged = receiving.reduce() && !memory.eager(receiving) ? memory.segments(receiving) : 0;
      for (int s = 0; s < staged && slot < segments.inFlight(); s++) {
        most = Math.max(most, segments.offset(slot++) + memory.bytes(receiving, s));
      }
      if (slot == segments.inFlight()) {
        return segments.offset(slot);
      }
    }
    return most;
  }

  private void send(CollectiveFrame.Type type, int aux, long bytes) {
    exchange.context().send(exchange.operation(), peer, type, exchange.stageIndex(), aux, bytes);
  }

  /// The peer writes no more.
  void release() {
    if (staging != null) {
      exchange.context().staging().giveBack(staging);
      staging = null;
    }
  }

  /// The same where it may, so that its window is not used again.
  void abandon() {
    if (staging != null) {
      exchange.context().staging().forget(staging);
      staging = null;
    }
  }

  // --- what arrives

  /// A write of the peer has landed.
  void onNotify() {
    Receiving due = due();
    if (due == null || exchange.memory().eager(due)) {
      exchange.operation().brokenBy(peer, "a write that its schedule does not have");
    } else if (due.reduce() && ++stagedArrived - stagedApplied > exchange.segments().inFlight()) {
      exchange.operation().brokenBy(peer, "a write to a slot of its window that is not free");
    } else {
      arrives(due);
      apply();
    }
  }

  /// A message with a segment's bytes.
  void onEager(MemorySegment body) {
    Receiving due = due();
    if (due == null || !exchange.memory().eager(due)) {
      exchange.operation().brokenBy(peer, "a segment that its schedule does not have");
      return;
    }
    long bytes = exchange.memory().bytes(due, dueSegment);
    if (body.byteSize() != bytes) {
      exchange
          .operation()
          .brokenBy(peer, "a segment of " + body.byteSize() + " bytes, not " + bytes);
      return;
    }
    arrives(due);
    fresh = body;
    apply();
    if (fresh != null) {
      kept.addLast(body.toArray(ValueLayout.JAVA_BYTE));
      fresh = null;
    }
  }

  /// What this peer sends next, null if it has sent all.
  private @Nullable Receiving due() {
    return isDue() ? steps[duePosition].receiving : null;
  }

  private void arrives(Receiving due) {
    arrived++;
    dueSegment++;
    if (dueSegment == exchange.memory().segments(due)) {
      dueSegment = 0;
      duePosition++;
    }
  }

  // --- progress

  /// Returns how many segments have been applied so far.
  int applied() {
    return applied;
  }

  /// Applies what has arrived and may be applied, in order; with it, what other peers have sent
  /// that is combined together with it.
  ///
  /// Hot path.
  void apply() {
    while (applied < arrived && !isDone()) {
      ReceiveStep step = steps[position];
      ReceiveTree tree = step.tree;
      if (tree == null ? !tryApply(step) : !tree.tryApply()) {
        return;
      }
    }
  }

  private boolean tryApply(ReceiveStep step) {
    if (!step.mayApply(segment)) {
      return false;
    }
    WireBuffers memory = exchange.memory();
    Receiving receiving = step.receiving;
    if (memory.eager(receiving) || receiving.reduce()) {
      long bytes = memory.bytes(receiving, segment);
      memory.combine(receiving, segment, step.memory(0), step.offset(), bytes);
    }
    passes(step);
    return true;
  }

  /// The next segment, which came in a message: from the message, or where it was kept.
  private MemorySegment body(int place) {
    byte[] first = kept.peekFirst();
    return first != null
        ? exchange.context().land(first, place)
        : Objects.requireNonNull(fresh, "a segment that has arrived is kept");
  }

  private MemorySegment window() {
    return Objects.requireNonNull(staging).segment();
  }

  private int slot() {
    return stagedApplied % exchange.segments().inFlight();
  }

  /// The next segment is applied: its memory is free again.
  private void passes(ReceiveStep step) {
    WireBuffers memory = exchange.memory();
    Receiving receiving = step.receiving;
    if (memory.eager(receiving)) {
      if (kept.pollFirst() == null) {
        fresh = null;
      }
    } else if (receiving.reduce()) {
      stagedApplied++;
      credit();
    }
    step.appliedBytes += memory.bytes(receiving, segment);
    applied++;
    segment++;
    if (segment == memory.segments(receiving)) {
      step.appliedBytes = Long.MAX_VALUE;
      segment = 0;
      position++;
    }
  }

  private void credit() {
    uncredited++;
    if (uncredited * 2 >= exchange.segments().inFlight()) {
      send(CollectiveFrame.Type.CREDIT, uncredited, CollectiveFrame.HEADER_BYTES);
      uncredited = 0;
    }
  }
}
