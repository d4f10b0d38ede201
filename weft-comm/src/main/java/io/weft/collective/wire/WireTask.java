// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.wire;

import io.weft.cluster.TokenOwner;
import io.weft.collective.choice.Segments;
import io.weft.collective.exchange.CollectiveContext;
import io.weft.collective.exchange.RunningOperation;
import io.weft.collective.exchange.StageTask;
import io.weft.collective.plan.RankSchedule;
import io.weft.collective.plan.RankSchedule.Receiving;
import io.weft.collective.plan.RankSchedule.Sending;
import io.weft.observer.OperationStage;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// An exchange by messages and writes: a data-flow machine over the schedule, with a stream to each
/// peer and a stream from each peer.
///
/// A step moves a *run* of chunks, which is sent in *segments*. A run up to the eager limit is sent
/// inside a message. A longer run is written into the peer's memory after the peer has granted it.
/// A run to be combined is written to a *staging* window of a few segments, which is used
/// cyclically with credit for free slots. A run to be copied is written directly into the peer's
/// result. The immediate value of a write is the token of the receiver's exchange.
///
/// A peer's write into this rank's result cannot arrive too early, because its content depends on
/// every contribution, including the one that this rank sent from that place. Confined to the
/// progress thread.
final class WireTask implements StageTask, TokenOwner {

  private final WireExchange exchange;
  private final int token;
  private final SendStream[] outgoing;
  private final ReceiveStream[] incoming;

  /// Peers whose announcement that they have entered is outstanding.
  private final BitSet outside = new BitSet();

  // Reported to the observer.
  private boolean sent;
  private boolean reduced;

  WireTask(RunningOperation operation, WireStage stage, int stageIndex, CollectiveContext context) {
    RankSchedule schedule = stage.schedule();
    Segments segments = operation.signature().segments();
    this.exchange =
        new WireExchange(
            operation,
            stage,
            stageIndex,
            context,
            new WireBuffers(stage, context, segments, context.eagerBytes(operation)));
    boolean keepsStep = context.keepsStep(operation, schedule);
    this.outgoing =
        schedule.outgoing().stream()
            .map(to -> new SendStream(exchange, to.peer(), to.steps(), keepsStep))
            .toArray(SendStream[]::new);
    this.incoming =
        schedule.incoming().stream()
            .map(from -> new ReceiveStream(exchange, from.peer(), from.steps()))
            .toArray(ReceiveStream[]::new);
    link(schedule);
    this.token = context.tokens().take(this);
    if (stage.entered()) {
      Arrays.stream(outgoing).filter(SendStream::isUngranted).forEach(to -> outside.set(to.peer()));
    }
  }

  /// Links each step to the steps on which it depends.
  private void link(RankSchedule schedule) {
    var sends = new SendStream.SendStep[schedule.sends().size()];
    var receives = new ReceiveStream.ReceiveStep[schedule.receives().size()];
    for (SendStream to : outgoing) {
      for (SendStream.SendStep step : to.steps()) {
        sends[step.number()] = step;
      }
    }
    for (ReceiveStream from : incoming) {
      for (ReceiveStream.ReceiveStep step : from.steps()) {
        receives[step.number()] = step;
      }
    }
    for (SendStream.SendStep step : sends) {
      Sending sending = step.sending();
      ReceiveStream.ReceiveStep beside = sending.hasBeside() ? receives[sending.beside()] : null;
      step.follows(these(receives, sending.needs()), beside);
    }
    for (ReceiveStream.ReceiveStep step : receives) {
      Receiving receiving = step.receiving();
      SendStream.SendStep[] after =
          IntStream.of(receiving.after())
              .mapToObj(n -> sends[n])
              .toArray(SendStream.SendStep[]::new);
      step.follows(these(receives, receiving.needs()), after);
    }
    for (RankSchedule.Tree tree : schedule.trees()) {
      var unused = new ReceiveTree(exchange, these(receives, tree.receives()), tree.own());
    }
  }

  private static ReceiveStream.ReceiveStep[] these(ReceiveStream.ReceiveStep[] all, int[] numbers) {
    return IntStream.of(numbers).mapToObj(n -> all[n]).toArray(ReceiveStream.ReceiveStep[]::new);
  }

  @Override
  public void start() {
    exchange.memory().copyUntouched();
    for (ReceiveStream from : incoming) {
      from.start(token);
    }
  }

  @Override
  public RunningOperation operation() {
    return exchange.operation();
  }

  @Override
  public boolean done() {
    return isSent() && outside.isEmpty() && isReceived();
  }

  private boolean isSent() {
    for (SendStream to : outgoing) {
      if (!to.isDone()) {
        return false;
      }
    }
    return true;
  }

  private boolean isReceived() {
    for (ReceiveStream from : incoming) {
      if (!from.isDone()) {
        return false;
      }
    }
    return true;
  }

  @Override
  public List<Integer> usedBy() {
    return Arrays.stream(outgoing).filter(SendStream::writesOut).map(SendStream::peer).toList();
  }

  @Override
  public void release() {
    exchange.context().tokens().free(token);
    for (ReceiveStream from : incoming) {
      from.release();
    }
    exchange.memory().release();
  }

  /// Waits until the transport has read the memory of all posted writes, and no peer writes into
  /// the caller's memory. Peers may still write into the staging windows, so these are not used
  /// again.
  @Override
  public boolean tryAbandon() {
    if (Arrays.stream(outgoing).anyMatch(SendStream::writesOut) || exchange.memory().withdraw()) {
      return false;
    }
    for (ReceiveStream from : incoming) {
      from.abandon();
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
    ReceiveStream from = from(peer);
    SendStream to = to(peer);
    return (from != null && from.isDue()) || (to != null && !to.isPosted()) || outside.get(peer);
  }

  @Override
  public List<Integer> waitingFor() {
    return Stream.of(
            Arrays.stream(incoming).filter(from -> !from.isDone()).map(ReceiveStream::peer),
            Arrays.stream(outgoing).filter(to -> !to.isPosted()).map(SendStream::peer),
            outside.stream().boxed())
        .flatMap(peers -> peers)
        .distinct()
        .sorted()
        .toList();
  }

  // --- arriving messages

  @Override
  public void onEntered(int peer) {
    outside.clear(peer);
  }

  @Override
  public void onGrant(int peer, MemorySegment frame) {
    SendStream to = to(peer);
    if (to == null) {
      operation().brokenBy(peer, "a grant that its schedule does not have");
    } else {
      to.onGrant(frame);
    }
  }

  @Override
  public void onCredit(int peer, int slots) {
    SendStream to = to(peer);
    if (to == null) {
      operation().brokenBy(peer, "credit for " + slots + " slots where none are due");
    } else {
      to.onCredit(slots);
    }
  }

  @Override
  public boolean onNotify(int fromRank) {
    int member = operation().group().member(fromRank);
    if (member < 0) {
      return false;
    }
    try {
      onNotifyFrom(member);
    } catch (RuntimeException | Error thrown) {
      operation().broken(thrown);
    }
    return true;
  }

  private void onNotifyFrom(int peer) {
    ReceiveStream from = from(peer);
    if (from == null) {
      operation().brokenBy(peer, "a write that its schedule does not have");
    } else {
      from.onNotify();
    }
  }

  @Override
  public void onEager(int peer, MemorySegment body) {
    ReceiveStream from = from(peer);
    if (from == null) {
      operation().brokenBy(peer, "a segment that its schedule does not have");
    } else {
      from.onEager(body);
    }
  }

  // --- progress

  @Override
  public int advance() {
    int work = 0;
    int before;
    do {
      before = work;
      work -= applied();
      for (ReceiveStream from : incoming) {
        from.apply();
      }
      work += applied();
      sortBySchedule();
      for (SendStream to : outgoing) {
        work += to.post();
      }
    } while (work > before);
    tellHowFar();
    return work;
  }

  private int applied() {
    int all = 0;
    for (ReceiveStream from : incoming) {
      all += from.applied();
    }
    return all;
  }

  /// Reports SENT and REDUCED. Segments are applied when they arrive, so this runs even if
  /// `advance` found no work.
  private void tellHowFar() {
    if (!sent && isSent()) {
      sent = true;
      operation().reached(OperationStage.SENT);
    }
    if (!reduced && isReceived()) {
      reduced = true;
      operation().reached(OperationStage.REDUCED);
    }
  }

  /// Sorts the streams so that the earliest step of the schedule is posted first, because other
  /// ranks wait for it. Insertion sort suits streams that are almost in order.
  private void sortBySchedule() {
    for (int i = 1; i < outgoing.length; i++) {
      SendStream to = outgoing[i];
      int at = i;
      while (at > 0 && outgoing[at - 1].next() > to.next()) {
        outgoing[at] = outgoing[at - 1];
        at--;
      }
      outgoing[at] = to;
    }
  }

  private @Nullable ReceiveStream from(int peer) {
    for (ReceiveStream from : incoming) {
      if (from.peer() == peer) {
        return from;
      }
    }
    return null;
  }

  private @Nullable SendStream to(int peer) {
    for (SendStream to : outgoing) {
      if (to.peer() == peer) {
        return to;
      }
    }
    return null;
  }
}
