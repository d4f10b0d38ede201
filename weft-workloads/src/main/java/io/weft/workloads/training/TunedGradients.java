// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.dataparallel.DataParallel;
import io.weft.dataparallel.DataParallelConfig;
import io.weft.dataparallel.DataParallelOptions;
import io.weft.dataparallel.Fusion;
import io.weft.dataparallel.tune.Autotuner;
import io.weft.dataparallel.tune.TunedSizes;
import io.weft.gradient.GradientReducer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/// Gradients whose exchange an autotuner changes during the first steps. What a setting says other
/// than its default stays. One thread. Owned.
final class TunedGradients implements AutoCloseable {

  private final DataParallel fused;
  private final DataParallel single;
  private final TunedSizes sizes;
  private final Autotuner tuner;
  private final List<String> log = new ArrayList<>(List.of(Autotuner.LOG_HEAD));

  TunedGradients(Weft weft) {
    DataParallelOptions options = DataParallelOptions.of(weft.config());
    this.fused = DataParallel.over(weft, options.with(either(options, Fusion.ON)));
    this.single = DataParallel.over(weft, options.with(either(options, Fusion.OFF)));
    var communicator = weft.communicator();
    this.sizes = new TunedSizes(communicator, fused.over(communicator), single.over(communicator));
    this.tuner =
        new Autotuner(
            communicator,
            sizes.parameters(fixed(weft, options)),
            TunedSizes.candidates(),
            sizes::apply,
            (sample, values, micros) -> log.add(line(sample, values, micros)));
  }

  /// What the setting says, else `otherwise`.
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

  /// For an optimizer.
  GradientReducer.Factory reducers() {
    return communicator -> sizes;
  }

  /// A step took so long on this rank. Collective.
  void stepEnded(long nanos) {
    try {
      tuner.stepEnded(nanos);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while ranks compare their steps", e);
    }
  }

  /// Each sample so far as a line of CSV, below a head.
  List<String> log() {
    return List.copyOf(log);
  }

  @Override
  public void close() {
    fused.close();
    single.close();
  }
}
