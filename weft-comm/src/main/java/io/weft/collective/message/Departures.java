// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.message;

import io.weft.collective.choice.Segments;
import io.weft.collective.exchange.CollectiveContext;
import io.weft.collective.exchange.RunningOperation;
import io.weft.collective.frame.CollectiveFrame;
import io.weft.collective.frame.Grant;
import io.weft.collective.plan.AlgorithmPlan;
import io.weft.collective.plan.AlgorithmPlan.Receiving;
import io.weft.collective.plan.AlgorithmPlan.Sending;
import io.weft.transport.Completion;
import io.weft.transport.MemoryRegion;
import io.weft.transport.PostResult;
import io.weft.transport.RemoteRegion;
import io.weft.transport.RemoteSlice;
import io.weft.transport.TransportException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The sending half of one exchange: posts each segment as soon as what it needs has been received
/// here, the peer has granted it, and the endpoint has room. Confined to the progress thread.
final class Departures {

  private final RunningOperation operation;
  private final WireStage stage;
  private final int phase;
  private final CollectiveContext context;
  private final WireBuffers memory;
  private final Segments segments;
  private final long[] appliedBytes;
  private final int[] arrivedSegments;
  private final Outgoing[] outgoing;
  private final long[] goneBytes;
  private final @Nullable SendDone[] completions;

  /// Segments of a send that may have been posted beyond what has come of the receive beside it
  /// (docs/adr/0065-ranks-of-a-host-keep-step.md).
  private final int lead;

  private int writesOut;
  private int sendsLeft;

  /// Two belong to the receiving half: `appliedBytes`, how far each receive is done,
  /// `Long.MAX_VALUE` when it is over; `arrivedSegments`, how far it has come.
  Departures(
      RunningOperation operation,
      WireStage stage,
      int phase,
      CollectiveContext context,
      WireBuffers memory,
      Segments segments,
      long[] appliedBytes,
      int[] arrivedSegments) {
    this.operation = operation;
    this.stage = stage;
    this.phase = phase;
    this.context = context;
    this.memory = memory;
    this.segments = segments;
    this.appliedBytes = appliedBytes;
    this.arrivedSegments = arrivedSegments;
    AlgorithmPlan plan = stage.plan();
    this.outgoing = new Outgoing[plan.outgoing().size()];
    for (int i = 0; i < outgoing.length; i++) {
      AlgorithmPlan.Stream stream = plan.outgoing().get(i);
      outgoing[i] = new Outgoing(stream.peer(), stream.steps());
    }
    this.lead =
        context.keepsStep(operation, plan)
            ? Math.max(1, segments.inFlight() / 2)
            : Integer.MAX_VALUE;
    this.goneBytes = new long[plan.sends().size()];
    this.completions = new SendDone[plan.sends().size()];
    this.sendsLeft = plan.sends().size();
  }

  /// Whether all has left, so that the memory may change.
  boolean done() {
    return sendsLeft == 0 && writesOut == 0;
  }

  /// Whether what this send has of a segment that is received has left. The segments of a send
  /// leave in order.
  boolean hasLeft(int send, Receiving receiving, int segment) {
    return !memory.waits(receiving, segment, stage.plan().sends().get(send), goneBytes[send]);
  }

  /// Whether the transport may still read our memory.
  boolean writesOut() {
    return writesOut > 0;
  }

  /// Whether this set rank has not been sent everything.
  boolean hasPending(int peer) {
    Outgoing out = outgoingTo(peer);
    return out != null && !out.acknowledged();
  }

  /// Set ranks that have not been sent everything.
  Stream<Integer> waitingFor() {
    return Arrays.stream(outgoing).filter(out -> !out.acknowledged()).map(out -> out.peer);
  }

  /// Set ranks to which all goes inside messages, so that they grant nothing.
  IntStream ungranted() {
    List<Sending> sends = stage.plan().sends();
    return Arrays.stream(outgoing)
        .filter(out -> Arrays.stream(out.sends).allMatch(send -> memory.eager(sends.get(send))))
        .mapToInt(out -> out.peer);
  }

  /// Set ranks to which writes are on their way.
  List<Integer> writingTo() {
    return Arrays.stream(outgoing).filter(out -> out.writesOut > 0).map(out -> out.peer).toList();
  }

  void onGrant(int peer, MemorySegment frame) {
    Outgoing out = outgoingTo(peer);
    Grant grant = Grant.read(frame);
    if (out == null || grant == null) {
      operation.brokenBy(peer, "a grant that its schedule does not have");
      return;
    }
    if (out.grant != null) {
      operation.brokenBy(peer, "a second grant");
      return;
    }
    if (grant.slots() < 0 || grant.slots() > segments.inFlight()) {
      operation.brokenBy(peer, "a grant of " + grant.slots() + " slots");
      return;
    }
    if (grant.segmentBytes() != segments.bytes()) {
      operation.brokenBy(
          peer,
          "a grant for segments of " + grant.segmentBytes() + " bytes, not of " + segments.bytes());
      return;
    }
    out.grant = grant;
    out.stagedAllowed = grant.slots();
    out.token = CollectiveFrame.aux(frame);
  }

  void onCredit(int peer, int slots) {
    Outgoing out = outgoingTo(peer);
    int most = out == null ? 0 : segments.inFlight() - (out.stagedAllowed - out.stagedPosted);
    if (out == null || out.grant == null || slots < 1 || slots > most) {
      operation.brokenBy(peer, "credit for " + slots + " slots where at most " + most + " are due");
      return;
    }
    out.stagedAllowed += slots;
  }

  /// Posts what can go, first what comes first in the schedule: others wait for it. Returns the
  /// segments posted.
  int post() {
    sortBySchedule();
    int posted = 0;
    for (Outgoing out : outgoing) {
      posted += post(out);
    }
    return posted;
  }

  /// By insertion, since hardly anything is out of order.
  private void sortBySchedule() {
    for (int i = 1; i < outgoing.length; i++) {
      Outgoing out = outgoing[i];
      int at = i;
      while (at > 0 && outgoing[at - 1].next() > out.next()) {
        outgoing[at] = outgoing[at - 1];
        at--;
      }
      outgoing[at] = out;
    }
  }

  private int post(Outgoing out) {
    int posted = 0;
    while (!out.acknowledged()) {
      int index = out.sends[out.position];
      Sending sending = stage.plan().sends().get(index);
      if (!isReady(sending, out.segment) || isAhead(out, sending)) {
        break;
      }
      boolean eager = memory.eager(sending);
      if (!(eager ? postEager(out, sending) : postWrite(out, index, sending))) {
        break;
      }
      posted++;
      out.posted++;
      out.segment++;
      if (out.segment == memory.segments(sending)) {
        if (eager) {
          goneBytes[index] = Long.MAX_VALUE;
          sendsLeft--;
        }
        out.segment = 0;
        out.position++;
      }
    }
    return posted;
  }

  /// Whether all receives that a segment needs have come far enough.
  private boolean isReady(Sending sending, int segment) {
    for (int receive : sending.needs()) {
      if (memory.waits(
          sending, segment, stage.plan().receives().get(receive), appliedBytes[receive])) {
        return false;
      }
    }
    return true;
  }

  /// Whether the peer, which has not sent all of what it sends meanwhile, is to come first.
  private boolean isAhead(Outgoing out, Sending sending) {
    if (!sending.hasBeside()) {
      return false;
    }
    int beside = sending.beside();
    int arrived = 0;
    for (int receive = 0; receive <= beside; receive++) {
      arrived += arrivedSegments[receive];
    }
    return out.posted - arrived >= lead
        && arrivedSegments[beside] < memory.segments(stage.plan().receives().get(beside));
  }

  private boolean postEager(Outgoing out, Sending sending) {
    long bytes = memory.bytes(sending, out.segment);
    return context.trySendEager(
        operation,
        out.peer,
        phase,
        memory.of(sending),
        memory.offsetOf(sending, out.segment),
        bytes);
  }

  private boolean postWrite(Outgoing out, int index, Sending sending) {
    Grant grant = out.grant;
    if (grant == null || (sending.staged() && out.stagedPosted >= out.stagedAllowed)) {
      return false;
    }
    RemoteRegion into = sending.staged() ? grant.staging() : grant.target();
    long bytes = memory.bytes(sending, out.segment);
    long at;
    if (sending.staged()) {
      at = segments.offset(out.stagedPosted % segments.inFlight());
    } else {
      long base = stage.layout().uniform() ? stage.layout().targetOffset()[sending.chunk()] : 0;
      at = grant.base() + base + segments.offset(out.segment);
    }
    // No sums: a peer's numbers may be of any size.
    if (at < 0 || into.bytes() < bytes || at > into.bytes() - bytes) {
      operation.brokenBy(
          out.peer, "a grant of " + into.bytes() + " bytes, needed " + bytes + " at " + at);
      return false;
    }
    SendDone done = completion(index, sending, out);
    MemoryRegion from = memory.regionOf(sending);
    PostResult result =
        context.tryWrite(
            operation,
            out.peer,
            from.slice(memory.offsetOf(sending, out.segment), bytes),
            new RemoteSlice(into, at, bytes),
            out.token,
            done);
    if (result != PostResult.POSTED) {
      return false;
    }
    writesOut++;
    out.writesOut++;
    if (sending.staged()) {
      out.stagedPosted++;
    }
    return true;
  }

  private SendDone completion(int index, Sending sending, Outgoing out) {
    SendDone done = completions[index];
    if (done == null) {
      done = new SendDone(index, out, sending);
      completions[index] = done;
    }
    return done;
  }

  /// Counts the segments of one send: its memory is reusable when all have left.
  private final class SendDone extends Completion {
    private final int index;
    private final Outgoing out;
    private final Sending sending;
    private final int segments;
    private int gone;

    SendDone(int index, Outgoing out, Sending sending) {
      this.index = index;
      this.out = out;
      this.sending = sending;
      this.segments = memory.segments(sending);
      arm(1);
    }

    @Override
    protected void onSuccess() {
      oneLessOut();
      goneBytes[index] += memory.bytes(sending, gone);
      if (++gone == segments) {
        goneBytes[index] = Long.MAX_VALUE;
        sendsLeft--;
      } else {
        arm(1);
      }
    }

    private void oneLessOut() {
      writesOut--;
      out.writesOut--;
    }

    @Override
    protected void onFailure(TransportException first) {
      oneLessOut();
      arm(1);
      operation.writeFailed(sending.peer(), first);
    }
  }

  private @Nullable Outgoing outgoingTo(int peer) {
    for (Outgoing out : outgoing) {
      if (out.peer == peer) {
        return out;
      }
    }
    return null;
  }
}
