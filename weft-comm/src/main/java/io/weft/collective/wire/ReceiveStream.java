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

/// The segments that one peer sends to this rank in one exchange. They arrive in the order of the
/// schedule, and are applied in that order as soon as the memory they change is no longer needed.
/// Confined to the progress thread.
final class ReceiveStream {

  private final WireExchange exchange;
  private final int peer;
  private final ReceiveStep[] steps;
  private final ArrayDeque<byte[]> kept = new ArrayDeque<>(0);

  /// The newest segment, if it arrived in a message and has not been copied yet.
  private @Nullable MemorySegment fresh;

  private @Nullable MemoryRegion staging;

  // Number of segments that have arrived, and of those applied.
  private int arrived;
  private int applied;

  // The segment to apply next: position in `steps`, segment of its run.
  private int position;
  private int segment;

  // The segment to arrive next.
  private int duePosition;
  private int dueSegment;

  // Number of staged segments that have arrived, of those applied, and of the applied ones not yet
  // returned as credit.
  private int stagedArrived;
  private int stagedApplied;
  private int uncredited;

  /// Creates the stream of all receives from one peer, in order, by their numbers in the schedule.
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

    /// Number of segments of this stream up to the end of this step.
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

    /// Sets the receives that must have been applied before, and the sends that must have left
    /// before this step changes their memory.
    void follows(ReceiveStep[] before, SendStream.SendStep[] sends) {
      needs = before;
      after = sends;
    }

    /// Sets the tree in which this receive is combined together with others.
    void joins(ReceiveTree with) {
      tree = with;
    }

    /// Returns whether enough has been applied for a segment of a run.
    boolean hasApplied(Run run, int segmentOfIt) {
      return !exchange.memory().waits(run, segmentOfIt, receiving, appliedBytes);
    }

    /// Returns the number of segments of this stream, up to the end of this step, that have
    /// arrived.
    int arrivedUntil() {
      return Math.min(arrived, until);
    }

    boolean hasArrived() {
      return arrived >= until;
    }

    /// Returns the segment of this step to apply next.
    int nextSegment() {
      return segment;
    }

    /// Returns whether this segment of the step is the next one of this stream to apply, and has
    /// arrived.
    boolean isHere(int which) {
      return position < steps.length
          && steps[position] == this
          && segment == which
          && applied < arrived;
    }

    /// Returns the memory of the next segment, which has arrived.
    ///
    /// @param place index among the segments that are requested at the same time
    MemorySegment memory(int place) {
      return exchange.memory().eager(receiving) ? body(place) : window();
    }

    /// Returns the start of the segment in that memory.
    long offset() {
      return exchange.memory().eager(receiving) ? 0 : exchange.segments().offset(slot());
    }

    /// Advances after the next segment has been combined with the others.
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

  /// Returns whether everything is applied.
  boolean isDone() {
    return position == steps.length;
  }

  /// Returns whether more segments must arrive.
  boolean isDue() {
    return duePosition < steps.length;
  }

  // --- the window

  /// Grants the peer its writes. Without a grant, announces that this rank has entered if the peer
  /// waits for that.
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

  /// Returns the length of the window that the segments to be combined need; 0 if there are none.
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

  /// Returns the window, because the peer writes no more.
  void release() {
    if (staging != null) {
      exchange.context().staging().giveBack(staging);
      staging = null;
    }
  }

  /// Closes the window, because the peer may still write to it.
  void abandon() {
    if (staging != null) {
      exchange.context().staging().forget(staging);
      staging = null;
    }
  }

  // --- arriving segments

  /// Handles the completion of a peer's write.
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

  /// Returns the receive of the peer's next segment, or null if all have arrived.
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

  int applied() {
    return applied;
  }

  /// Applies arrived segments in order while their dependencies permit it, together with the
  /// segments of other peers in the same tree.
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

  /// Returns the next segment, which arrived in a message: the message itself or the kept copy.
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

  /// Advances after the next segment is applied, and frees its memory.
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
