// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.ffm;

/// The values of `TF_Code` that Weft's kernels report.
public enum StatusCode {
  /// Becomes `TFInvalidArgumentException`.
  INVALID_ARGUMENT(3),
  /// A soft time limit passed.
  DEADLINE_EXCEEDED(4),
  /// Becomes `TFFailedPreconditionException`.
  FAILED_PRECONDITION(9),
  /// The communicator was aborted, or a peer is gone. Not `UNAVAILABLE`: TensorFlow rewrites that
  /// one with a remark of its own.
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
