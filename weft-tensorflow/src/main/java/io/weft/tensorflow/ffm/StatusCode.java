// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.ffm;

/// The values of `TF_Code` that Weft's kernels report.
public enum StatusCode {
  /// Becomes `TFInvalidArgumentException`.
  INVALID_ARGUMENT(3),
  /// A soft time limit was exceeded.
  DEADLINE_EXCEEDED(4),
  /// Becomes `TFFailedPreconditionException`.
  FAILED_PRECONDITION(9),
  /// The communicator was aborted or a peer was lost. Not `UNAVAILABLE`, because TensorFlow adds a
  /// remark to the message of that code.
  ABORTED(10),
  /// A fault in Weft.
  INTERNAL(13);

  private final int value;

  StatusCode(int value) {
    this.value = value;
  }

  int value() {
    return value;
  }
}
