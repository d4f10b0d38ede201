// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.negotiation;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.dataparallel.frame.ReportFormat;
import io.weft.dataparallel.frame.RoundReport;
import io.weft.dataparallel.frame.Signatures;
import io.weft.dataparallel.frame.TensorSignature;
import io.weft.dataparallel.fusion.FusionPlan;
import io.weft.tensor.DType;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/// Simulates the negotiation, response cache and fusion plan of all ranks in virtual time. Ranks
/// submit tensors in different orders, in groups and with delays. Caches may be too small. Ranks
/// disagree, submit late or never, join at different steps, and leave. Each tensor must end once on
/// each rank that submitted it, and in the same way on all ranks.
class NegotiationSimulationTest {

  private static final long MILLISECOND = 1_000_000;
  private static final long STALL = 10_000 * MILLISECOND;
  private static final long DEADLINE = 60_000 * MILLISECOND;
  private static final int MOST_ROUNDS = 5000;

  private static final long FIRST_SEED = Long.getLong("weft.test.seed", 0);
  private static final int SEEDS = Integer.getInteger("weft.test.seeds", 1000);

  @Test
  void allRanksMakeTheSamePlanAndNothingIsLost() {
    Totals totals = new Totals();
    for (long seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
      try {
        new Job(seed, totals).run();
      } catch (AssertionError | RuntimeException failed) {
        throw new AssertionError("seed " + seed + ": " + failed.getMessage(), failed);
      }
    }
    if (SEEDS >= 100) { // enough seeds for every outcome
      assertThat(totals.ready).isPositive();
      assertThat(totals.mismatches).isPositive();
      assertThat(totals.neverSubmitted).isPositive();
      assertThat(totals.evictingJobs).isPositive();
      assertThat(totals.givenUp).isPositive();
      assertThat(totals.joined).isPositive();
    }
  }

  private static final class Totals {
    long ready;
    long mismatches;
    long neverSubmitted;
    long evictingJobs;
    long givenUp;
    long joined;
  }

  /// A tensor of a step, as one rank submits it.
  private record Use(String name, int step, TensorSignature signature) {}

  /// The tensors that a rank submits in one call.
  private record Call(List<Use> tensors) {}

  private static final class Rank {
    final Negotiation negotiation;
    final Queue<Queue<Call>> steps = new ArrayDeque<>();
    Queue<Call> calls = new ArrayDeque<>();
    final Map<String, Use> underWay = new HashMap<>();
    boolean joining;
    int joins;

    Rank(Negotiation negotiation) {
      this.negotiation = negotiation;
    }
  }

  private static final class Job {
    private final Random random;
    private final Totals totals;
    private final List<Rank> ranks = new ArrayList<>();

    /// The outcome of each use of a tensor, on the first rank that ended it.
    private final Map<String, String> ends = new HashMap<>();

    /// The uses that a rank gave up before the first round.
    private final Set<String> givenUp = new HashSet<>();

    private final long threshold;
    private long now;

    Job(long seed, Totals totals) {
      this.random = new Random(seed);
      this.totals = totals;
      int size = 2 + random.nextInt(5);
      int names = 1 + random.nextInt(20);
      int capacity = random.nextInt(24);
      totals.evictingJobs += capacity > 0 && capacity < names ? 1 : 0;
      threshold = 4L << random.nextInt(12);
      for (int r = 0; r < size; r++) {
        var settings = new Negotiation.Settings(r, size, capacity, STALL, rank -> "rank " + rank);
        ranks.add(new Rank(new Negotiation(settings)));
      }
      int most = 2 + random.nextInt(6);
      List<Integer> batches = new ArrayList<>();
      ranks.forEach(rank -> batches.add(1 + random.nextInt(most)));
      for (int step = 0; step < most; step++) {
        addStep(step, names, batches);
      }
    }

    /// Adds a step with the same tensors in different orders on all its ranks, except for faults.
    private void addStep(int step, int names, List<Integer> batches) {
      List<List<Use>> calls = new ArrayList<>();
      for (int n = 0; n < names; n++) {
        if (random.nextInt(8) > 0) {
          calls.add(List.of(use("t" + n, step, "", 0)));
        }
      }
      if (random.nextBoolean()) {
        int size = 2 + random.nextInt(3);
        List<Use> group = new ArrayList<>();
        for (int i = 0; i < size; i++) {
          group.add(use("g" + i, step, "g0", size));
        }
        calls.add(group);
      }
      int wrong = random.nextInt(6) > 0 ? -1 : random.nextInt(ranks.size());
      int without = random.nextInt(6) > 0 ? -1 : random.nextInt(ranks.size());
      Use lost = use("lost" + step, step, "", 0);
      for (int r = 0; r < ranks.size(); r++) {
        if (step < batches.get(r)) {
          List<Call> own = new ArrayList<>();
          calls.forEach(call -> own.add(new Call(call)));
          if (r == wrong && !own.isEmpty()) {
            int at = random.nextInt(own.size());
            own.set(at, otherwise(own.get(at)));
          }
          if (without >= 0 && r != without) {
            own.add(new Call(List.of(lost)));
          }
          Collections.shuffle(own, random);
          ranks.get(r).steps.add(new ArrayDeque<>(own));
        } else if (without == r) {
          ranks.get(r).steps.add(new ArrayDeque<>());
        }
      }
      if (without >= 0 && step < batches.get(without) && random.nextBoolean()) {
        // The rank submits the tensor later: in time, or after the other ranks have given it up.
        ranks.get(without).steps.add(new ArrayDeque<>(List.of(new Call(List.of(lost)))));
      }
    }

    private Use use(String name, int step, String group, int groupSize) {
      long elements = 1 + (name.hashCode() & 63);
      int priority = name.hashCode() & 1;
      DType dtype = (name.hashCode() & 4) == 0 ? DType.FLOAT32 : DType.INT32;
      return new Use(name, step, Signatures.of(dtype, elements, priority, group, groupSize));
    }

    private static Call otherwise(Call call) {
      List<Use> uses = new ArrayList<>(call.tensors());
      Use first = uses.getFirst();
      TensorSignature right = first.signature();
      TensorSignature other =
          Signatures.of(
              right.dtype(), 1000, right.priority(), right.group().name(), right.group().size());
      uses.set(0, new Use(first.name(), first.step(), other));
      return new Call(List.copyOf(uses));
    }

    /// Lets some ranks wait for one without a reducer, until their first tensors expire.
    private void waitForRounds() {
      for (Rank rank : ranks) {
        if (random.nextInt(3) == 0) {
          goOn(rank);
          for (String name : rank.negotiation.giveUp(now + DEADLINE)) {
            Use use = Objects.requireNonNull(rank.underWay.remove(name));
            givenUp.add(use.name() + " of step " + use.step());
            totals.givenUp++;
          }
        }
      }
    }

    void run() {
      waitForRounds();
      waitForRounds();
      int rounds = 0;
      while (ranks.stream().anyMatch(rank -> rank.joins == 0)) {
        assertThat(rounds++).as("rounds").isLessThan(MOST_ROUNDS);
        ranks.forEach(this::goOn);
        end(round());
        now += random.nextInt(4) == 0 ? random.nextInt(5000) * MILLISECOND : MILLISECOND;
      }
      for (Rank rank : ranks) {
        assertThat(rank.underWay).isEmpty();
        assertThat(rank.negotiation.isWaiting()).isFalse();
        assertThat(rank.joins).isEqualTo(1);
      }
      int leaver = random.nextInt(ranks.size());
      ranks.get(leaver).negotiation.leave();
      for (Outcome outcome : round()) {
        assertThat(outcome.leaver()).isEqualTo(leaver);
      }
    }

    /// Runs some steps of the program of a rank.
    private void goOn(Rank rank) {
      for (int some = random.nextInt(6); some > 0; some--) {
        if (!rank.calls.isEmpty()) {
          for (Use use : rank.calls.remove().tensors()) {
            assertThat(rank.underWay.put(use.name(), use)).isNull();
            rank.negotiation.submit(use.name(), use.signature(), now, now + DEADLINE);
          }
        } else if (rank.underWay.isEmpty() && !rank.steps.isEmpty()) {
          rank.calls = rank.steps.remove();
        } else if (rank.underWay.isEmpty() && !rank.joining) {
          rank.joining = true;
          rank.negotiation.join();
        }
      }
    }

    private List<Outcome> round() {
      List<Round> rounds = new ArrayList<>();
      for (Rank rank : ranks) {
        long skewed = now + random.nextInt(3) * MILLISECOND;
        rounds.add(rank.negotiation.begin(skewed, "last", 0));
      }
      byte[] combined = rounds.getFirst().vector().clone();
      for (Round each : rounds) {
        assertThat(each.vector()).hasSameSizeAs(combined);
        for (int i = 0; i < combined.length; i++) {
          combined[i] = (byte) Math.min(Byte.toUnsignedInt(combined[i]), each.vector()[i] & 0xff);
        }
      }
      List<RoundReport> reports = new ArrayList<>();
      if (Round.exchangesReports(combined)) {
        for (Round each : rounds) {
          reports.add(ReportFormat.decode(ReportFormat.encode(each.report())));
        }
      }
      List<Outcome> outcomes = new ArrayList<>();
      for (Rank rank : ranks) {
        outcomes.add(rank.negotiation.end(combined, reports, now));
      }
      return outcomes;
    }

    private void end(List<Outcome> outcomes) {
      Outcome first = outcomes.getFirst();
      checkPlan(first.ready());
      for (int r = 0; r < ranks.size(); r++) {
        Rank rank = ranks.get(r);
        Outcome outcome = outcomes.get(r);
        assertThat(outcome.ready()).isEqualTo(first.ready());
        assertThat(outcome.lastJoined()).isEqualTo(first.lastJoined());
        assertThat(outcome.leaver()).isEqualTo(-1);
        for (ReadyTensor tensor : outcome.ready()) {
          Use use = rank.underWay.remove(tensor.name());
          assertThat(use != null || rank.joining).as(tensor.name()).isTrue();
          if (use != null) {
            assertThat(use.signature()).isEqualTo(tensor.signature());
            ended(use, "ready");
            totals.ready++;
          }
        }
        for (FailedTensor tensor : outcome.failed()) {
          Use use = rank.underWay.remove(tensor.name());
          if (use != null) {
            ended(use, tensor.message());
            totals.mismatches += tensor.isMismatch() ? 1 : 0;
            totals.neverSubmitted += tensor.isMismatch() ? 0 : 1;
          }
        }
        if (outcome.lastJoined() >= 0) {
          assertThat(rank.joining).isTrue();
          rank.joins++;
          totals.joined++;
        }
      }
    }

    private void ended(Use use, String how) {
      boolean wasGivenUp = givenUp.contains(use.name() + " of step " + use.step());
      assertThat(wasGivenUp && how.equals("ready")).as(use + ": " + how).isFalse();
      String before = ends.putIfAbsent(use.name() + " of step " + use.step(), how);
      assertThat(before == null ? how : before).as(use.toString()).isEqualTo(how);
    }

    /// Checks that each tensor is in one buffer, no buffer is too long, and groups are whole.
    private void checkPlan(List<ReadyTensor> ready) {
      List<FusionPlan.Batch> plan =
          FusionPlan.of(
              ready, threshold, new FusionPlan.Rules(bytes -> true, bytes -> bytes <= 256 << 10));
      Set<String> planned = new HashSet<>();
      Map<String, Integer> ofGroup = new HashMap<>();
      for (FusionPlan.Batch batch : plan) {
        assertThat(!batch.isFused() || batch.bytes() <= threshold).isTrue();
        for (ReadyTensor tensor : batch.tensors()) {
          assertThat(planned.add(tensor.name())).as(tensor.name()).isTrue();
          if (tensor.signature().isGrouped()) {
            ofGroup.merge(tensor.signature().group().name(), 1, Integer::sum);
            assertThat(tensor.signature().group().size()).isPositive();
          }
        }
      }
      assertThat(planned).hasSize(ready.size());
      for (ReadyTensor tensor : ready) {
        if (tensor.signature().isGrouped()) {
          assertThat(ofGroup.get(tensor.signature().group().name()))
              .isEqualTo(tensor.signature().group().size());
        }
      }
    }
  }
}
