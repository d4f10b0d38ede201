// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.sentinel;

import java.io.Serial;

/// Thrown on all ranks if the ranks' weights differ and the policy is `STOP`. The communicator
/// remains usable.
public final class DivergedException extends RuntimeException {

  @Serial private static final long serialVersionUID = 1L;

  private final transient Divergence divergence;

  DivergedException(Divergence divergence) {
    super(divergence.words() + "; resume from a checkpoint, and suspect the memory of those ranks");
    this.divergence = divergence;
  }

  /// Returns the ranks and tensors that differ.
  public Divergence divergence() {
    return divergence;
  }
}
