// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.timeline;

import org.jspecify.annotations.Nullable;

/// What a span of time was used for. The codes are those of the file format and stay.
public enum SpanCategory {
  /// One step of training; its detail is the number of the step.
  STEP(1),
  /// The program computed.
  COMPUTE(2),
  /// The program prepared its input.
  INPUT(3),
  /// The program wrote or read a checkpoint.
  CHECKPOINT(4),
  /// The program tested what it had trained.
  EVALUATION(5),
  /// A tensor was submitted, and the ranks had not agreed yet that it is ready on all of them.
  NEGOTIATE(6),
  /// Something ready waited for its turn.
  QUEUE(7),
  /// Tensors were copied into a fusion buffer. (Out of it: `COPY_OUT`.)
  FUSE(8),
  /// Bytes left this rank.
  SEND(9),
  /// What arrived was combined.
  REDUCE(10),
  /// Results were copied to where they belong.
  COPY_OUT(11),
  /// This rank waited: for another one, and its detail is that rank; or, with detail -1, the
  /// program waited until what it had submitted was done.
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
