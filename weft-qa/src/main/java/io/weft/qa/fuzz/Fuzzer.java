// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.fuzz;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;

/// The fuzzer of one target. It mutates inputs of its corpus, keeps those with new coverage, and
/// collects those with which the decoder fails. A run is determined by seed, corpus and number of
/// executions. Confined to one thread.
final class Fuzzer {

  private static final int MAX_FINDINGS = 16;
  private static final int SHORTENING_RUNS = 400;
  private static final int TRIMMING_RUNS = 24;
  private static final int TRIMMED_FROM = 48;

  private final FuzzTarget target;
  private final Trial trial;
  private final Mutator mutator;
  private final Corpus corpus = new Corpus();
  private final List<FuzzFinding> findings = new ArrayList<>();
  private final Set<String> places = new HashSet<>();

  Fuzzer(FuzzTarget target, long seed) {
    this.target = target;
    this.trial = new Trial(target);
    this.mutator = new Mutator(seed, target.dictionary());
  }

  Trial trial() {
    return trial;
  }

  Corpus corpus() {
    return corpus;
  }

  List<FuzzFinding> findings() {
    return findings;
  }

  /// Initializes the corpus from the seeds of the target and the `stored` inputs, which are short
  /// already.
  void start(List<byte[]> stored) {
    target.seeds().forEach(trial::warmUp);
    target.seeds().forEach(this::consider);
    stored.forEach(input -> consider(input, true));
    if (corpus.entries().isEmpty()) {
      throw new IllegalStateException(target.name() + ": no seed reaches instrumented code");
    }
  }

  /// Runs until `stop` is true or there are too many findings.
  void run(BooleanSupplier stop) {
    while (!stop.getAsBoolean() && findings.size() < MAX_FINDINGS) {
      Corpus.Entry parent = pick();
      Corpus.Entry other = corpus.entries().get(mutator.below(corpus.entries().size()));
      consider(mutator.mutate(parent.input(), other.input(), parent.pairs()));
    }
  }

  /// Returns one of the latest inputs in half of the cases, because they lead further.
  private Corpus.Entry pick() {
    List<Corpus.Entry> entries = corpus.entries();
    int recent = Math.max(1, entries.size() / 4);
    return mutator.below(2) == 0
        ? entries.get(entries.size() - 1 - mutator.below(recent))
        : entries.get(mutator.below(entries.size()));
  }

  /// Runs an input. Keeps it in shortened form if its coverage is new.
  void consider(byte[] input) {
    consider(input, false);
  }

  private void consider(byte[] input, boolean isShort) {
    Throwable failure = trial.run(input, false);
    if (failure != null) {
      found(input, failure);
      return;
    }
    byte[] hits = Coverage.end();
    if (corpus.isNew(hits)) {
      byte[] kept = isShort ? input : trimmed(input, Corpus.edges(hits));
      if (trial.run(kept, true) == null) {
        corpus.add(new Corpus.Entry(kept, Corpus.edges(Coverage.end()), Coverage.pairs()));
      }
    }
  }

  /// Returns a shorter input with the same edges.
  private byte[] trimmed(byte[] input, BitSet edges) {
    byte[] best = input;
    int step = input.length / 2;
    for (int runs = 0; runs < TRIMMING_RUNS && step >= 4 && best.length > TRIMMED_FROM; ) {
      boolean cut = false;
      for (int at = 0; at < best.length && runs < TRIMMING_RUNS; ) {
        byte[] shorter = Mutator.without(best, at, step);
        runs++;
        if (trial.run(shorter, false) == null && Corpus.edges(Coverage.end()).equals(edges)) {
          best = shorter;
          cut = true;
        } else {
          at += step;
        }
      }
      step = cut ? Math.min(step, best.length / 2) : step / 2;
    }
    return best;
  }

  private void found(byte[] input, Throwable failure) {
    String place = FuzzFinding.place(failure);
    if (places.add(place)) {
      byte[] shortest = shortened(input, place);
      Throwable again = trial.run(shortest, false);
      findings.add(new FuzzFinding(target.name(), shortest, again == null ? failure : again));
    }
  }

  private byte[] shortened(byte[] input, String place) {
    byte[] best = input.clone();
    int runs = 0;
    for (int step = Math.max(1, input.length / 2); step >= 1; step /= 2) {
      for (int at = 0; at < best.length && runs < SHORTENING_RUNS; ) {
        byte[] shorter = Mutator.without(best, at, step);
        runs++;
        Throwable failure = trial.run(shorter, false);
        if (failure != null && FuzzFinding.place(failure).equals(place)) {
          best = shorter;
        } else {
          at += step;
        }
      }
    }
    return Arrays.copyOf(best, best.length);
  }
}
