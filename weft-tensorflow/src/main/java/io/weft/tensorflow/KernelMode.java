// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

/// How a kernel waits for its collective.
public enum KernelMode {
  /// It does not: TensorFlow's thread submits and goes on, the progress thread completes the op.
  /// Needs a C++ library whose callbacks can be moved; checked at start.
  ASYNCHRONOUS,

  /// It holds one of TensorFlow's inter-op threads until the collective is done. Each op that waits
  /// holds one, and ranks start ops in different orders, so a session with fewer threads than
  /// collectives may wait until the deadline: give it `OpLibrary.sessionConfig`.
  BLOCKING
}
