// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.wire;

import io.weft.collective.choice.Segments;
import io.weft.collective.exchange.BufferLayout;
import io.weft.collective.frame.CollectiveFrame;
import io.weft.collective.frame.Grant;
import io.weft.collective.plan.RankSchedule.Receiving;
import io.weft.collective.plan.RankSchedule.Sending;
import io.weft.transport.Completion;
import io.weft.transport.MemoryRegion;
import io.weft.transport.PostResult;
import io.weft.transport.RemoteRegion;
import io.weft.transport.RemoteSlice;
import io.weft.transport.TransportException;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// The segments that this rank sends to one peer in one exchange. Each is posted in the order of
/// the schedule, as soon as this rank has received its dependencies, the peer has granted it, and
/// the endpoint has room. Segments to be combined need a free slot of the peer's window. Confined
/// to the progress thread.
final class SendStream {

  private final WireExchange exchange;
  private final int peer;
  private final SendStep[] steps;

  /// The maximum lead of posted segments over the arrived segments of the receive beside them
  /// (docs/adr/0065-limit-bytes-in-flight-per-host.md).
  private final int lead;

  private @Nullable Grant grant;
  private int token;

  // The segment to post next: position in `steps`, segment of its run.
  private int position;
  private int segment;

  private int posted;
  private int stagedPosted;
  private int stagedAllowed;
  private int writesOut;
  private int stepsLeft;

  /// Creates the stream of all sends to one peer, in order, by their numbers in the schedule.
  ///
  /// @param keepsStep true if neither rank may be far ahead of the other
  SendStream(WireExchange exchange, int peer, int[] sends, boolean keepsStep) {
    this.exchange = exchange;
    this.peer = peer;
    this.steps = new SendStep[sends.length];
    this.stepsLeft = sends.length;
    for (int i = 0; i < sends.length; i++) {
      steps[i] = new SendStep(sends[i], exchange.stage().schedule().sends().get(sends[i]));
    }
    int inFlight = exchange.segments().inFlight();
    this.lead = keepsStep ? Math.max(1, inFlight / 2) : Integer.MAX_VALUE;
  }

  /// One send. It is complete when all its segments have left, so that its memory may change.
  final class SendStep extends Completion {

    private final int number;
    private final Sending sending;
    private final int segments;
    private ReceiveStream.ReceiveStep[] needs = {};
    private ReceiveStream.@Nullable ReceiveStep beside;
    private int left;
    private long leftBytes;

    SendStep(int number, Sending sending) {
      this.number = number;
      this.sending = sending;
      this.segments = exchange.memory().segments(sending);
      arm(1);
    }

    int number() {
      return number;
    }

    Sending sending() {
      return sending;
    }

    /// Sets the receives that must be applied before, and the receive beside this send, if any.
    void follows(
        ReceiveStream.ReceiveStep[] before, ReceiveStream.@Nullable ReceiveStep meanwhile) {
      needs = before;
      beside = meanwhile;
    }

    /// Returns whether this send's bytes in a received segment have left. Segments leave in order.
    boolean hasLeft(Receiving receiving, int segmentOfIt) {
      return !exchange.memory().waits(receiving, segmentOfIt, sending, leftBytes);
    }

    private void leaves() {
      leftBytes += exchange.memory().bytes(sending, left);
      if (++left == segments) {
        leftBytes = Long.MAX_VALUE;
        stepsLeft--;
      }
    }

    private boolean isReady(int which) {
      for (ReceiveStream.ReceiveStep before : needs) {
        if (!before.hasApplied(sending, which)) {
          return false;
        }
      }
      return true;
    }

    @Override
    protected void onSuccess() {
      writesOut--;
      leaves();
      if (left < segments) {
        arm(1);
      }
    }

    @Override
    protected void onFailure(TransportException first) {
      writesOut--;
      arm(1);
      exchange.operation().writeFailed(peer, first);
    }
  }

  int peer() {
    return peer;
  }

  SendStep[] steps() {
    return steps;
  }

  boolean isPosted() {
    return position == steps.length;
  }

  /// Returns whether everything has left, so that the memory may change.
  boolean isDone() {
    return stepsLeft == 0 && writesOut == 0;
  }

  /// Returns whether the transport may still read this rank's memory.
  boolean writesOut() {
    return writesOut > 0;
  }

  /// Returns whether all segments are sent inside messages, so that the peer sends no grant.
  boolean isUngranted() {
    for (SendStep step : steps) {
      if (!exchange.memory().eager(step.sending)) {
        return false;
      }
    }
    return true;
  }

  /// Returns the number of the next send.
  int next() {
    return isPosted() ? Integer.MAX_VALUE : steps[position].number;
  }

  // --- arriving messages

  void onGrant(MemorySegment frame) {
    Segments segments = exchange.segments();
    Grant given = Grant.read(frame);
    if (given == null) {
      exchange.operation().brokenBy(peer, "a grant that its schedule does not have");
    } else if (grant != null) {
      exchange.operation().brokenBy(peer, "a second grant");
    } else if (given.slots() < 0 || given.slots() > segments.inFlight()) {
      exchange.operation().brokenBy(peer, "a grant of " + given.slots() + " slots");
    } else if (given.segmentBytes() != segments.bytes()) {
      exchange
          .operation()
          .brokenBy(
              peer,
              "a grant for segments of "
                  + given.segmentBytes()
                  + " bytes, not of "
                  + segments.bytes());
    } else {
      grant = given;
      stagedAllowed = given.slots();
      token = CollectiveFrame.aux(frame);
    }
  }

  void onCredit(int slots) {
    int most = exchange.segments().inFlight() - (stagedAllowed - stagedPosted);
    if (grant == null || slots < 1 || slots > most) {
      exchange
          .operation()
          .brokenBy(peer, "credit for " + slots + " slots where at most " + most + " are due");
      return;
    }
    stagedAllowed += slots;
  }

  // --- progress

  /// Posts segments while possible. Returns their number.
  ///
  /// Hot path.
  int post() {
    int before = posted;
    while (!isPosted()) {
      SendStep step = steps[position];
      if (!step.isReady(segment) || isAhead(step)) {
        break;
      }
      if (!(exchange.memory().eager(step.sending) ? postEager(step) : postWrite(step))) {
        break;
      }
      posted++;
      segment++;
      if (segment == step.segments) {
        segment = 0;
        position++;
      }
    }
    return posted - before;
  }

  /// Returns whether this send must wait for segments of the receive beside it.
  private boolean isAhead(SendStep step) {
    ReceiveStream.ReceiveStep beside = step.beside;
    return beside != null && posted - beside.arrivedUntil() >= lead && !beside.hasArrived();
  }

  private boolean postEager(SendStep step) {
    WireBuffers memory = exchange.memory();
    Sending sending = step.sending;
    if (!exchange
        .context()
        .trySendEager(
            exchange.operation(),
            peer,
            exchange.stageIndex(),
            memory.of(sending),
            memory.offsetOf(sending, segment),
            memory.bytes(sending, segment))) {
      return false;
    }
    step.leaves();
    return true;
  }

  private boolean postWrite(SendStep step) {
    Grant given = grant;
    Sending sending = step.sending;
    if (given == null || (sending.staged() && stagedPosted >= stagedAllowed)) {
      return false;
    }
    WireBuffers memory = exchange.memory();
    RemoteRegion into = sending.staged() ? given.staging() : given.target();
    long bytes = memory.bytes(sending, segment);
    long at = place(given, sending);
    // Avoids sums, because a peer's numbers may be arbitrarily large.
    if (at < 0 || into.bytes() < bytes || at > into.bytes() - bytes) {
      exchange
          .operation()
          .brokenBy(peer, "a grant of " + into.bytes() + " bytes, needed " + bytes + " at " + at);
      return false;
    }
    MemoryRegion from = memory.regionOf(sending);
    PostResult result =
        exchange
            .context()
            .tryWrite(
                exchange.operation(),
                peer,
                from.slice(memory.offsetOf(sending, segment), bytes),
                new RemoteSlice(into, at, bytes),
                token,
                step);
    if (result != PostResult.POSTED) {
      return false;
    }
    writesOut++;
    if (sending.staged()) {
      stagedPosted++;
    }
    return true;
  }

  private long place(Grant given, Sending sending) {
    Segments segments = exchange.segments();
    if (sending.staged()) {
      return segments.offset(stagedPosted % segments.inFlight());
    }
    BufferLayout layout = exchange.stage().layout();
    long base = layout.uniform() ? layout.targetOffset()[sending.chunk()] : 0;
    return given.base() + base + segments.offset(segment);
  }
}
