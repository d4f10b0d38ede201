// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.metrics;

/// The uses of a rank's time.
public enum TimeUse {
  /// Time before the first step.
  START_UP(0),
  /// Time in steps, neither communicating nor reading input.
  COMPUTE(1),
  /// Time in steps, communicating or waiting for other ranks without computation.
  COMMUNICATION(2),
  /// Time in steps, preparing their input.
  INPUT(3),
  /// Time writing checkpoints.
  CHECKPOINT(4),
  /// Time evaluating the trained model.
  EVALUATION(5);

  static final int COUNT = 6;

  private final int place;

  TimeUse(int place) {
    this.place = place;
  }

  int place() {
    return place;
  }

  /// Returns the label of this use in metrics.
  public String label() {
    return switch (this) {
      case START_UP -> "start-up";
      case COMPUTE -> "compute";
      case COMMUNICATION -> "communication";
      case INPUT -> "input";
      case CHECKPOINT -> "checkpoint";
      case EVALUATION -> "evaluation";
    };
  }
}
