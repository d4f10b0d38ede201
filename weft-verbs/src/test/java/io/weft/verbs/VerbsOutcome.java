// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import io.weft.transport.Completion;
import io.weft.transport.TransportException;
import org.jspecify.annotations.Nullable;

/// The outcome of one operation.
final class VerbsOutcome extends Completion {

  private boolean isDone;
  private @Nullable TransportException failure;

  VerbsOutcome() {
    arm(1);
  }

  boolean isDone() {
    return isDone;
  }

  @Nullable TransportException failure() {
    return failure;
  }

  @Override
  protected void onSuccess() {
    isDone = true;
  }

  @Override
  protected void onFailure(TransportException first) {
    isDone = true;
    failure = first;
  }
}
