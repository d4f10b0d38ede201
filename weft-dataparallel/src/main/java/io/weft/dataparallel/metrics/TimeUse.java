// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.metrics;

/// What the time of a rank is used for.
public enum TimeUse {
  /// All before the first step.
  START_UP(0),
  /// In steps, neither communicating nor reading input.
  COMPUTE(1),
  /// In steps, communicating or waiting for other ranks while nothing is computed.
  COMMUNICATION(2),
  /// In steps, preparing their input.
  INPUT(3),
  /// Writing checkpoints.
  CHECKPOINT(4),
  /// Testing what was trained.
  EVALUATION(5);

  /// How many there are.
  static final int COUNT = 6;

  private final int place;

  TimeUse(int place) {
    this.place = place;
  }

  int place() {
    return place;
  }

  /// As labels of metrics have it.
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
