// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads;

import io.weft.dataparallel.compress.Compression;
import io.weft.workloads.djl.DjlNetwork;
import io.weft.workloads.model.EngineKind;
import io.weft.workloads.model.OptimizerKind;
import io.weft.workloads.model.Workload;
import io.weft.workloads.parameterserver.Servers;
import io.weft.workloads.training.GradientExchange;
import io.weft.workloads.training.Shares;
import io.weft.workloads.training.Sync;
import io.weft.workloads.training.TrainingException;
import io.weft.workloads.training.TrainingSettings;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Collectors;

/// The option `--engine`.
final class EngineFlag {

  static final String NAME = "--engine";
  static final String DESCRIPTION =
      "tensorflow, or djl: DJL with PyTorch, for mnist-*, cifar10-* and tiny-gpt; default"
          + " tensorflow, with tiny-gpt djl";

  private EngineFlag() {}

  /// Throws `BadOption` for a training that the engine does not offer.
  static void requireFits(TrainingSettings settings, Optional<Servers> servers) {
    Workload workload = settings.workload();
    if (!workload.isComputedBy(settings.engine())) {
      String names =
          Arrays.stream(Workload.values())
              .filter(each -> each.isComputedBy(settings.engine()))
              .map(Workload::title)
              .collect(Collectors.joining(", "));
      throw BadOption.of(
          NAME, settings.engine().toString(), names + " with it, not " + workload.title());
    }
    if (settings.engine() != EngineKind.DJL) {
      return;
    }
    if (servers.isPresent() && servers.get().via() != Servers.Via.PS) {
      throw refused("--via allreduce or ps, not " + servers.get().via());
    }
    if (settings.sync() instanceof Sync.Weights) {
      throw refused("--sync gradients or local:H, not " + settings.sync());
    }
    if (!(settings.exchange() instanceof GradientExchange.Averaged by
        && by.compression() instanceof Compression.None)) {
      throw refused("no " + GradientFlags.option(settings.exchange()));
    }
    if (settings.optimizer() == OptimizerKind.ADAGRAD && servers.isEmpty()) {
      throw refused("--optimizer sgd, momentum or adam, not adagrad, which DJL's PyTorch lacks,");
    }
    if (settings.checkpoint().isPresent()) {
      throw refused("no --checkpoint");
    }
    if (settings.check().isPresent()) {
      throw refused("no " + WeightCheckFlag.NAME);
    }
    if (settings.shares() != Shares.EQUAL) {
      throw refused("no --balance");
    }
    if (settings.hidden().dropout() > 0) {
      throw refused("no --dropout");
    }
  }

  /// Throws `TrainingException.NoEngine` if the engine is not on the class path.
  static void requireLibrary(TrainingSettings settings) {
    if (settings.engine() != EngineKind.DJL) {
      return;
    }
    try {
      DjlNetwork.requireLibrary();
    } catch (NoClassDefFoundError absent) {
      throw new TrainingException.NoEngine(
          "%s %s: no class %s on the class path; add io.weft:weft-djl"
              .formatted(NAME, EngineKind.DJL, absent.getMessage()),
          absent);
    }
  }

  private static BadOption refused(String expected) {
    return BadOption.of(NAME, EngineKind.DJL.toString(), expected + " with it");
  }
}
