// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous.service;

import io.weft.CommException;
import org.jspecify.annotations.Nullable;

/// The end of a step, or its failure.
final class StepCommand extends Submission {

  private final long step;
  private final @Nullable CommException cause;

  /// @param cause null for the end
  StepCommand(long step, @Nullable CommException cause) {
    this.step = step;
    this.cause = cause;
  }

  @Override
  void enter(MeshRendezvous rendezvous) {
    if (cause == null) {
      rendezvous.endHere(step);
    } else {
      rendezvous.abortHere(step, cause);
    }
  }
}
