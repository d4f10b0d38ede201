// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.dataparallel.DataParallel;
import io.weft.dataparallel.DataParallelConfig;
import io.weft.dataparallel.DataParallelOptions;
import io.weft.dataparallel.Fusion;
import io.weft.dataparallel.tune.Autotuner;
import io.weft.dataparallel.tune.TunedParameter;
import io.weft.dataparallel.tune.TunedSizes;
import io.weft.dataparallel.tune.TuningStore;
import io.weft.gradient.GradientReducer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Gradients whose exchange an autotuner changes during the first steps. Settings that the user has
/// changed stay. Tuned values are kept in the user's directory, if any, and the next run of the
/// same work takes them from there. Confined to one thread. The caller closes it.
final class TunedGradients implements AutoCloseable {

  private final DataParallel fused;
  private final DataParallel single;
  private final TunedSizes sizes;
  private final Autotuner tuner;
  private final List<TunedParameter> parameters;
  private final Optional<TuningStore> store;
  private final String fingerprint;
  private final List<String> log = new ArrayList<>(List.of(Autotuner.LOG_HEAD));
  private final boolean isRoot;
  private @Nullable String news;
  private boolean ended;

  /// Creates the exchange. Collective.
  ///
  /// @param work a description of the reduced tensors that is equal in each run
  TunedGradients(TrainingJob job, GradientExchange.Tuned how, String work) {
    Weft weft = job.weft();
    DataParallelOptions options = DataParallelOptions.of(weft.config());
    this.fused = DataParallel.open(weft, options.with(either(options, Fusion.ON)), job.timeline());
    this.single =
        DataParallel.open(weft, options.with(either(options, Fusion.OFF)), job.timeline());
    var communicator = weft.communicator();
    this.sizes = new TunedSizes(fused.reducer(communicator), single.reducer(communicator));
    this.parameters = sizes.parameters(fixed(weft, options));
    this.tuner =
        new Autotuner(
            communicator,
            parameters,
            TunedSizes.candidates(),
            sizes::apply,
            (sample, values, micros) -> log.add(line(sample, values, micros)));
    this.store = how.store().map(TuningStore::new);
    this.fingerprint = TuningStore.fingerprint(weft, work);
    this.isRoot = job.rank() == 0;
    takeKept(RankExchange.of(job));
  }

  /// Applies the tuned values that rank 0 has read, if any, on all ranks instead of a search.
  private void takeKept(RankExchange exchange) {
    Optional<List<Long>> kept =
        isRoot ? store.flatMap(it -> it.find(fingerprint, parameters)) : Optional.empty();
    long[] mine = new long[1 + parameters.size()];
    if (kept.isPresent()) {
      mine[0] = 1;
      for (int p = 0; p < parameters.size(); p++) {
        mine[1 + p] = kept.get().get(p);
      }
    }
    long[] all = exchange.fromRoot("autotune", mine);
    if (all[0] == 1) {
      List<Long> values = Arrays.stream(all).skip(1).boxed().toList();
      waiting(() -> sizes.apply(values));
      ended = true;
      news = "autotune: reused values of an earlier run: " + words(values);
    }
  }

  private String words(List<Long> values) {
    List<String> words = new ArrayList<>();
    for (int p = 0; p < parameters.size(); p++) {
      words.add(parameters.get(p).name() + " " + values.get(p));
    }
    return String.join(", ", words);
  }

  /// Returns the setting, or `otherwise` if the setting is automatic.
  private static Fusion either(DataParallelOptions options, Fusion otherwise) {
    return options.fusion() == Fusion.AUTO ? otherwise : options.fusion();
  }

  private static Set<String> fixed(Weft weft, DataParallelOptions options) {
    Set<String> fixed = new HashSet<>();
    var threshold = DataParallelConfig.FUSION_THRESHOLD;
    long otherwise =
        WeftConfig.parse(threshold, threshold.defaultText().orElseThrow(), threshold.flag());
    if (options.fusion() != Fusion.AUTO || options.fusionThreshold() != otherwise) {
      fixed.add(TunedSizes.FUSION_THRESHOLD);
    }
    if (weft.config().segmentBytes().isPresent()) {
      fixed.add(TunedSizes.SEGMENT_BYTES);
    }
    return fixed;
  }

  private static String line(int sample, List<Long> values, double micros) {
    return sample
        + ","
        + values.stream().map(String::valueOf).collect(Collectors.joining(","))
        + ","
        + micros;
  }

  /// Returns the reducers for an optimizer.
  GradientReducer.Factory reducers() {
    return communicator -> sizes;
  }

  /// Reports the duration of a step on this rank. Collective.
  void stepEnded(long nanos, TrainingObserver observer) {
    if (!ended) {
      waiting(() -> tuner.stepEnded(nanos));
      if (tuner.isDone()) {
        ended = true;
        news =
            "autotune: found after %d samples: %s".formatted(log.size() - 1, words(tuner.values()));
        keep();
      }
    }
    if (news != null) {
      observer.onTuned(news);
      news = null;
    }
  }

  private void keep() {
    if (isRoot && store.isPresent()) {
      try {
        store.get().keep(fingerprint, parameters, tuner.values());
      } catch (IOException e) {
        news += "; the values could not be saved for the next run: " + e.getMessage();
      }
    }
  }

  /// An action that waits for other ranks.
  @FunctionalInterface
  private interface Waiting {
    void run() throws InterruptedException;
  }

  private static void waiting(Waiting step) {
    try {
      step.run();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while ranks compare their steps", e);
    }
  }

  /// Ends the training, and reports it if the search has not completed.
  void trainingEnded(TrainingObserver observer) {
    if (!ended) {
      observer.onTuned(
          "autotune: training ended before the search, after %d of about 60 samples; none saved"
              .formatted(log.size() - 1));
    }
  }

  /// Returns each sample as a line of CSV, after a header line.
  List<String> log() {
    return List.copyOf(log);
  }

  @Override
  public void close() {
    fused.close();
    single.close();
  }
}
