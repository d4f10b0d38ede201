// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.sentinel;

import java.io.Serial;

/// The ranks' weights differ, and the policy is to stop. Thrown on all ranks; the communicator
/// works on.
public final class DivergedException extends RuntimeException {

  @Serial private static final long serialVersionUID = 1L;

  private final transient Divergence divergence;

  DivergedException(Divergence divergence) {
    super(divergence.words() + "; resume from a checkpoint, and suspect the memory of those ranks");
    this.divergence = divergence;
  }

  /// Who differs in what.
  public Divergence divergence() {
    return divergence;
  }
}
