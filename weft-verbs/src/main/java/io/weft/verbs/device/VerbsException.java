// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.device;

import io.weft.verbs.ffm.Errno;
import java.io.Serial;

/// Signals a failed call of libibverbs; existing resources are unchanged.
public final class VerbsException extends RuntimeException {

  @Serial private static final long serialVersionUID = 1L;

  private final int errno;

  /// Creates a refusal by Weft itself, before any device call; the message must contain the remedy.
  public VerbsException(String message) {
    super(message);
    errno = 0;
  }

  /// Creates the failure of an operation with this errno; `advice` is the remedy or empty.
  VerbsException(String operation, int errno, String advice) {
    super(operation + " failed: " + Errno.words(errno) + (advice.isEmpty() ? "" : "; " + advice));
    this.errno = errno;
  }

  /// Returns the errno; 0 if the library did not report one.
  public int errno() {
    return errno;
  }

  /// Returns whether the system permits no more memory to be registered.
  public boolean isLimit() {
    return isLimit(errno);
  }

  static boolean isLimit(int errno) {
    return errno == Errno.ENOMEM || errno == Errno.EPERM || errno == Errno.EAGAIN;
  }

  /// Throws if `result` is negative.
  static void check(int result, String operation) {
    if (result < 0) {
      throw new VerbsException(operation, -result, "");
    }
  }
}
