// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.model;

import java.util.Locale;

/// The libraries that `--engine` offers to compute a network.
public enum EngineKind {
  /// TensorFlow Java.
  TENSORFLOW,
  /// DJL with PyTorch.
  DJL;

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
