// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.session;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/// The failure of a step inside the client.
final class StepFailed extends Exception {

  @Serial private static final long serialVersionUID = 1L;

  private final transient Failure failure;

  StepFailed(Failure failure, @Nullable Throwable cause) {
    super(failure.text(), cause);
    this.failure = failure;
  }

  Failure failure() {
    return failure;
  }
}
