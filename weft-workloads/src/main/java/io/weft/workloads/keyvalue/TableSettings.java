// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.keyvalue;

import io.weft.kv.spec.Consistency;
import io.weft.workloads.training.Sync;
import io.weft.workloads.training.TrainingSettings;

/// The settings with which a training registers its tables and tensors. Pure.
///
/// @param consistency the condition for the answer to a pull
/// @param rule the update of a server by a gradient, equal to TensorFlow's optimizer of that name
public record TableSettings(Consistency consistency, String rule) {

  /// Returns the settings of a training.
  public static TableSettings of(TrainingSettings settings) {
    return new TableSettings(consistency(settings.sync()), rule(settings));
  }

  private static Consistency consistency(Sync sync) {
    return switch (sync) {
      case Sync.Asynchronous() -> Consistency.asynchronous();
      case Sync.Bounded(int steps) -> Consistency.bounded(steps);
      case Sync.Gradients() -> Consistency.synchronous();
      case Sync.Weights w -> throw new IllegalArgumentException(w + " with parameter servers");
      case Sync.Local l -> throw new IllegalArgumentException(l + " with parameter servers");
    };
  }

  /// Returns the rule with TensorFlow Java's defaults, which differ from the rule's defaults.
  private static String rule(TrainingSettings settings) {
    String rule = settings.optimizer() + ":lr=" + settings.rate();
    return switch (settings.optimizer()) {
      case SGD -> rule;
      case MOMENTUM -> rule + ",momentum=0.9";
      case ADAM -> rule + ",eps=1e-8";
      case ADAGRAD -> rule + ",init=0.01,eps=0";
    };
  }
}
