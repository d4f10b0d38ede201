// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

/// The way in which a kernel waits for its collective.
public enum KernelMode {
  /// The kernel does not wait. TensorFlow's thread submits and continues; the progress thread
  /// completes the op. This mode requires that TensorFlow's C++ callbacks can be moved to other
  /// memory, which is checked at start.
  ASYNCHRONOUS,

  /// The kernel occupies one of TensorFlow's inter-op threads until the collective completes. Ranks
  /// start ops in different orders, so a session with fewer threads than collectives may wait until
  /// the deadline. Such a session needs `OpLibrary.sessionConfig`.
  BLOCKING
}
