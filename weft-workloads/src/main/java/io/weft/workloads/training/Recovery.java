// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.agent.Ticker;
import io.weft.cluster.elastic.OnFailure;
import io.weft.comm.CommException;
import io.weft.workloads.checkpoint.History;
import java.util.ArrayList;
import java.util.List;
import org.tensorflow.Session;

/// The recovery of a training after ranks were lost. It shrinks the job and brings the remaining
/// ranks to the state of the rank with the most progress. All ranks have contributed to that state;
/// a step that no rank has completed is repeated. Confined to one thread.
final class Recovery {

  /// The number of consecutive failures without a lost rank after which a defect is assumed.
  private static final int MOST_FRUITLESS = 3;

  private final TrainingJob job;
  private final RankExchange exchange;
  private final Ticker ticker;
  private final List<Shrink> shrinks = new ArrayList<>();
  private List<Integer> members;
  private long failedNanos;
  private String why = "";
  private long lastProgress = -1;
  private int fruitless;

  Recovery(TrainingJob job, RankExchange exchange, Ticker ticker) {
    this.job = job;
    this.exchange = exchange;
    this.ticker = ticker;
    this.members = job.members();
  }

  /// Returns whether ranks were lost and training has not continued since.
  boolean isUnderWay() {
    return !why.isEmpty();
  }

  List<Shrink> shrinks() {
    return List.copyOf(shrinks);
  }

  /// Continues in the next epoch of the job. Collective. Throws `TrainingException.Lost` if the job
  /// must not shrink, or cannot.
  void shrink(CommException cause, long progress) {
    boolean helps =
        switch (cause) {
          case CommException.PeerLost lost -> true;
          case CommException.Aborted aborted -> true;
          case CommException.TimedOut late -> true;
          case CommException.Mismatch mismatch -> false;
          case CommException.Broken broken -> false;
          case CommException.Setup setup -> false;
          case CommException.Excluded excluded -> false;
        };
    if (!helps || job.onFailure() == OnFailure.END) {
      throw new TrainingException.Lost(cause);
    }
    if (!isUnderWay()) {
      failedNanos = ticker.nanos();
      why = String.valueOf(cause.getMessage());
    }
    List<Integer> before = job.members();
    try {
      job.shrink();
    } catch (CommException tooFew) {
      throw new TrainingException.Lost(tooFew);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while the ranks that are left agree", e);
    }
    fruitless = job.members().equals(before) && progress == lastProgress ? fruitless + 1 : 0;
    lastProgress = progress;
    if (fruitless == MOST_FRUITLESS) {
      throw new TrainingException.Lost(cause);
    }
  }

  /// Brings all ranks to the state of the rank with the most progress, the lowest such rank if
  /// there are several. Collective. Returns false if no rank had begun.
  boolean agree(TrainingProgress progress, ModelState state, Session session, int share) {
    List<Long> all =
        exchange.gather("progress", Long.toString(progress.progress())).stream()
            .map(Long::parseLong)
            .toList();
    long furthest = all.stream().mapToLong(Long::longValue).max().orElseThrow();
    int root = all.indexOf(furthest);
    if (furthest < 0) {
      return false;
    }
    boolean apart = furthest / 2 % 2 == 0 && all.stream().allMatch(p -> p == furthest);
    if (apart) {
      progress.disturb(); // the ranks' models differ; they are averaged next
    } else {
      follow(root, furthest, progress, state, session, share);
    }
    return true;
  }

  private void follow(
      int root,
      long furthest,
      TrainingProgress progress,
      ModelState state,
      Session session,
      int share) {
    History mine = progress.history();
    long[] lengths =
        exchange.from(
            root, "history", (long) mine.losses().size(), (long) mine.accuracies().size());
    History known = exchange.from(root, mine, (int) lengths[0], (int) lengths[1]);
    double[] sums = exchange.from(root, "sums", progress.lossSums());
    double[] examples = exchange.from(root, "examples", progress.examples());
    if (job.rank() == root) {
      state.fetch(session);
    }
    List<ModelState.Slot> slots = state.slots();
    for (int i = 0; i < slots.size(); i++) {
      exchange.from(root, "state/" + i, slots.get(i).copy());
    }
    // The state is complete only now; until here this rank kept its own state.
    if (job.rank() != root) {
      state.assign(session);
    }
    progress.follow(furthest, known, sums, examples, share);
  }

  /// Reports that training continues, if ranks were lost.
  void done(TrainingProgress progress, TrainingObserver observer) {
    if (!isUnderWay()) {
      return;
    }
    List<Integer> left = job.members();
    Shrink shrink =
        new Shrink(
            job.epoch(),
            Math.max(0, progress.steps()),
            members.stream().filter(rank -> !left.contains(rank)).toList(),
            left.size(),
            (ticker.nanos() - failedNanos) / 1e9);
    shrinks.add(shrink);
    observer.onShrink(shrink, why);
    members = left;
    why = "";
  }
}
