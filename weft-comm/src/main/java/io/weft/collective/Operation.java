// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import io.weft.CommException;
import io.weft.transport.TransportException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// One collective of one rank, from submission to completion: its stages one after the other, its
/// deadline, and what its peers said about it. Created by a user thread, then confined to the
/// lane's thread.
final class Operation<T> implements CollectiveObserver.Subject {

  private static final Logger LOG = LoggerFactory.getLogger(Operation.class);

  private final Group group;
  private final String name;
  private final Signature signature;
  private final Script<T> script;
  private final PendingHandle<T> handle;
  private final Duration limit;
  private final long submittedNanos;
  private final long key;
  private final Frame.@Nullable Progress[] answers;
  private int sequence;
  private int observed;
  private int phase = -1;
  private @Nullable Exchange exchange;
  private @Nullable CommException failure;
  private @Nullable Collectives collectives;
  private boolean probed;
  private long verdictNanos;
  private long failedNanos;
  private boolean toldMismatch;

  Operation(
      Group group,
      String name,
      Signature signature,
      Script<T> script,
      PendingHandle<T> handle,
      Duration limit,
      long submittedNanos) {
    this.group = group;
    this.name = name;
    this.signature = signature;
    this.script = script;
    this.handle = handle;
    this.limit = limit;
    this.submittedNanos = submittedNanos;
    this.key = Hash.of(group.key(), name);
    this.answers = new Frame.Progress[group.size()];
    this.verdictNanos = submittedNanos + limit.toNanos();
  }

  Group group() {
    return group;
  }

  @Override
  public String name() {
    return name;
  }

  Signature signature() {
    return signature;
  }

  PendingHandle<T> handle() {
    return handle;
  }

  long key() {
    return key;
  }

  @Override
  public int sequence() {
    return sequence;
  }

  int phase() {
    return phase;
  }

  long deadlineNanos() {
    return submittedNanos + limit.toNanos();
  }

  /// How long before the deadline the others are asked whether they have submitted it, and how long
  /// they have to answer.
  long graceNanos() {
    return Math.min(500_000_000L, limit.toNanos() / 4);
  }

  boolean probed() {
    return probed;
  }

  void markProbed() {
    probed = true;
  }

  /// When the deadline's verdict is due: at the deadline, or a grace after this rank could ask.
  long verdictNanos() {
    return verdictNanos;
  }

  /// To at most twice the deadline, however often this rank stands still.
  void putOffVerdict(long nanos) {
    long latest = deadlineNanos() + limit.toNanos();
    verdictNanos = Math.max(verdictNanos, Math.min(nanos, latest));
  }

  boolean toldMismatch() {
    return toldMismatch;
  }

  void markToldMismatch() {
    toldMismatch = true;
  }

  void onAnswer(int member, Frame.Progress progress) {
    answers[member] = progress;
  }

  boolean failed() {
    return failure != null;
  }

  long failedNanos() {
    return failedNanos;
  }

  /// The lane has taken it as this use of its name.
  void taken(Collectives owner, int number) {
    collectives = owner;
    sequence = number;
    observed = owner.observer().onBegin(this, owner.now());
  }

  /// Begins the first stage. Returns whether the operation is already complete.
  boolean start() {
    return nextStage();
  }

  /// Moves on as far as possible; returns whether the operation is complete.
  boolean advance() {
    Exchange running = exchange;
    if (failure != null || running == null) {
      return false;
    }
    running.advance();
    return failure == null && !toldMismatch && running.done() && nextStage();
  }

  /// Begins the next stage and those after it that need no peer. Returns whether all are done.
  private boolean nextStage() {
    Collectives owner = Objects.requireNonNull(collectives);
    while (true) {
      if (exchange != null) {
        exchange.release();
        exchange = null;
      }
      phase++;
      Stage stage;
      try {
        stage = script.stage(phase);
      } catch (BadCount count) {
        brokenBy(count.member(), count.what());
        return false;
      } catch (OutOfMemoryError noRoom) {
        owner.abort(group, noRoom(noRoom), group.world(group.rank()));
        return false;
      }
      if (stage == null) {
        return true;
      }
      Exchange next = new Exchange(this, stage, phase, owner.wires());
      exchange = next;
      owner.observer().onStage(observed, phase, owner.now());
      next.start();
      owner.replayEarly(this);
      next.advance();
      if (failure != null || toldMismatch) {
        return false;
      }
      if (!next.done()) {
        owner.failIfDeserted(this);
        return false;
      }
    }
  }

  /// Tells the handle. After success the result is the caller's.
  void complete() {
    Collectives owner = Objects.requireNonNull(collectives);
    owner.observer().onDone(observed, owner.now());
    handle.complete(script.result(), null);
  }

  /// Remembers the failure; `settle` ends it when the transport no longer touches our memory.
  void fail(CommException cause, long nowNanos) {
    if (failure == null) {
      failure = cause;
      failedNanos = nowNanos;
      Objects.requireNonNull(collectives).observer().onFailed(observed, this, cause, nowNanos);
    }
  }

  /// Whether a failed operation could be ended now, and if so, ends it.
  boolean settle() {
    Exchange running = exchange;
    if (running != null && running.writesOut()) {
      return false;
    }
    if (running != null) {
      running.abandon();
      exchange = null;
    }
    script.discard();
    handle.complete(null, failure);
    return true;
  }

  // --- from the wire, for the stage that runs

  void onGrant(int member, MemorySegment frame) {
    if (exchange != null) {
      exchange.onGrant(member, frame);
    }
  }

  void onCredit(int member, int slots) {
    if (exchange != null) {
      exchange.onCredit(member, slots);
    }
  }

  void onEager(int member, MemorySegment body) {
    if (exchange != null) {
      exchange.onEager(member, body);
    }
  }

  void onNotify(int member) {
    if (exchange != null) {
      exchange.onNotify(member);
    }
  }

  /// A peer broke the protocol: nothing it says can be trusted.
  void brokenBy(int member, String what) {
    Objects.requireNonNull(collectives)
        .abort(
            group,
            new CommException.Aborted(
                describe()
                    + ": "
                    + group.describe(member)
                    + " sent "
                    + what
                    + "; all ranks must run the same version of Weft with the same tuning",
                group.world(member),
                null),
            group.world(member));
  }

  private CommException noRoom(OutOfMemoryError cause) {
    return new CommException.Aborted(
        group.self()
            + ": "
            + describe()
            + " has no memory for its result: "
            + cause.getMessage()
            + "; native memory is limited by -XX:MaxDirectMemorySize (by default the heap's -Xmx)",
        cause);
  }

  /// A write was not done. If the peer refused it, the peer has ended the operation and has said
  /// so, or will; if the endpoint is lost, the mesh says so. So there is nothing to do here but not
  /// to complete.
  void writeFailed(int member, TransportException cause) {
    LOG.debug("{}: write to {} failed: {}", name, group.describe(member), cause.getMessage());
  }

  // --- for the observer

  @Override
  public long communicator() {
    return group.key();
  }

  @Override
  public String words() {
    return signature.words();
  }

  @Override
  public long bytes() {
    return signature.bytes();
  }

  @Override
  public long submittedNanos() {
    return submittedNanos;
  }

  @Override
  public List<Integer> awaited() {
    return waitingFor().stream().map(group::world).toList();
  }

  @Override
  public List<Integer> unsubmitted() {
    return IntStream.range(0, answers.length)
        .filter(m -> answers[m] == Frame.Progress.NOT_SUBMITTED)
        .mapToObj(group::world)
        .toList();
  }

  // --- in words

  /// "allreduce 'g1' (FLOAT32[3] SUM)".
  String describe() {
    String words = signature.words();
    int space = words.indexOf(' ');
    return words.substring(0, space) + " '" + name + "' (" + words.substring(space + 1) + ")";
  }

  String describe(long nowNanos) {
    return describe()
        + String.format(
            Locale.ROOT, " for %.1f s, stage %d", (nowNanos - submittedNanos) / 1e9, phase);
  }

  /// Whether the stage that runs cannot end without this member.
  boolean needs(int member) {
    return exchange != null && exchange.needs(member);
  }

  List<Integer> waitingFor() {
    return exchange == null ? List.of() : exchange.waitingFor();
  }

  /// Members to which writes are on their way.
  List<Integer> writingTo() {
    return exchange == null ? List.of() : exchange.writingTo();
  }

  /// Members that never submitted it or never answered; if all have submitted it, those that this
  /// rank waits for.
  List<Integer> silent() {
    List<Integer> waitingFor = waitingFor();
    List<Integer> missing =
        IntStream.range(0, answers.length)
            .filter(m -> m != group.rank())
            .filter(m -> isMissing(answers[m]) || isClosedBefore(answers[m], m, waitingFor))
            .boxed()
            .toList();
    return missing.isEmpty() ? waitingFor : missing;
  }

  private static boolean isMissing(Frame.@Nullable Progress answer) {
    return answer == null || answer == Frame.Progress.NOT_SUBMITTED;
  }

  /// A member that has closed the communicator may have finished the operation first.
  private static boolean isClosedBefore(
      Frame.@Nullable Progress answer, int member, List<Integer> waitingFor) {
    return answer == Frame.Progress.CLOSED && waitingFor.contains(member);
  }

  /// What is known of a silent member.
  String excuse(int member) {
    Frame.Progress answer = answers[member];
    if (answer == null) {
      return "did not answer";
    }
    return switch (answer) {
      case NOT_SUBMITTED -> "has not submitted it";
      case RUNNING -> "has submitted it and waits too";
      case FINISHED -> "has finished it";
      case CLOSED -> "has closed this communicator";
    };
  }

  @Override
  public String toString() {
    return describe() + " answers " + Arrays.toString(answers);
  }
}
