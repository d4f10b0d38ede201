// SPDX-License-Identifier: Apache-2.0
package io.weft.djl;

import ai.djl.Model;
import ai.djl.training.TrainingConfig;

/// The initializers of a training's configuration, which only `Model.newTrainer` would hand to the
/// block.
final class ConfiguredInitializers {

  private ConfiguredInitializers() {}

  static void set(Model model, TrainingConfig config) {
    for (var each : config.getInitializers()) {
      if (each.getKey() != null && each.getValue() != null) {
        model.getBlock().setInitializer(each.getKey(), each.getValue());
      }
    }
  }
}
