// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.job;

import java.io.Serial;

/// A job could not be started; the message says why and what to do. Nothing is left of it.
public final class JobFailed extends Exception {

  @Serial private static final long serialVersionUID = 1L;

  /// With what was wrong.
  public JobFailed(String message, Throwable cause) {
    super(message, cause);
  }
}
