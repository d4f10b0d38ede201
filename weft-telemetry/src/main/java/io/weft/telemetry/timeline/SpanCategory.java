// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.timeline;

import org.jspecify.annotations.Nullable;

/// The category of a span. The codes belong to the file format and must not change.
public enum SpanCategory {
  /// A training step; its detail is the number of the step.
  STEP(1),
  /// Computation of the program.
  COMPUTE(2),
  /// Preparation of the program's input.
  INPUT(3),
  /// Writing or reading a checkpoint.
  CHECKPOINT(4),
  /// Evaluation of the trained model.
  EVALUATION(5),
  /// The time from a tensor's submission until the ranks agreed that it is ready on all of them.
  NEGOTIATE(6),
  /// The time that a ready tensor waited for its start.
  QUEUE(7),
  /// Copying tensors into a fusion buffer.
  FUSE(8),
  /// Sending bytes to other ranks.
  SEND(9),
  /// Combining received data.
  REDUCE(10),
  /// Copying results from a fusion buffer to the outputs.
  COPY_OUT(11),
  /// Waiting of this rank. The detail is the rank for which it waited, or -1 if the program waited
  /// for the completion of a submission.
  WAIT(12);

  private static final SpanCategory[] BY_CODE = new SpanCategory[13];

  static {
    for (SpanCategory category : values()) {
      BY_CODE[category.code] = category;
    }
  }

  private final int code;

  SpanCategory(int code) {
    this.code = code;
  }

  int code() {
    return code;
  }

  static @Nullable SpanCategory of(int code) {
    return code > 0 && code < BY_CODE.length ? BY_CODE[code] : null;
  }
}
