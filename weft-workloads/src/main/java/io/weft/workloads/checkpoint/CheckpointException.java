// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.checkpoint;

import java.io.Serial;

/// A checkpoint that is damaged, of another run, or cannot be written. Files are as before.
public final class CheckpointException extends RuntimeException {

  @Serial private static final long serialVersionUID = 1L;

  /// With the file and what to do.
  public CheckpointException(String message) {
    super(message);
  }
}
