// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.transport;

import io.weft.transport.Completion;
import io.weft.transport.TransportException;
import org.jspecify.annotations.Nullable;

/// A completion that records its outcome; it is created armed for one operation.
final class CompletionRecord extends Completion {

  private int fired;
  private @Nullable TransportException failure;

  CompletionRecord() {
    arm(1);
  }

  @Override
  protected void onSuccess() {
    fired++;
  }

  @Override
  protected void onFailure(TransportException first) {
    fired++;
    failure = first;
  }

  boolean isDone() {
    return fired > 0;
  }

  boolean succeeded() {
    return fired == 1 && failure == null;
  }

  int fired() {
    return fired;
  }

  @Nullable TransportException failure() {
    return failure;
  }
}
