// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.job;

import java.io.Serial;

/// Thrown if a job could not be started; the message has the reason and the remedy. Nothing of the
/// job remains.
public final class JobFailed extends Exception {

  @Serial private static final long serialVersionUID = 1L;

  /// Creates the exception with its reason.
  public JobFailed(String message, Throwable cause) {
    super(message, cause);
  }
}
