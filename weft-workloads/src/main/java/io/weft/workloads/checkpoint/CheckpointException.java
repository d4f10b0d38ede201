// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.checkpoint;

import java.io.Serial;

/// A checkpoint that is damaged, belongs to another run, or cannot be written. Files are unchanged.
public final class CheckpointException extends RuntimeException {

  @Serial private static final long serialVersionUID = 1L;

  /// Creates the exception with the file and the remedy.
  public CheckpointException(String message) {
    super(message);
  }
}
