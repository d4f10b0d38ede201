// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.device;

import io.weft.verbs.ffm.Errno;
import java.io.Serial;

/// A call of libibverbs that failed; what was there before is there still.
public final class VerbsException extends RuntimeException {

  @Serial private static final long serialVersionUID = 1L;

  private final int errno;

  /// A refusal of ours, before the device was asked; with what to do.
  public VerbsException(String message) {
    super(message);
    errno = 0;
  }

  /// What failed with this number, and what can be done about it; nothing if that is empty.
  VerbsException(String operation, int errno, String advice) {
    super(operation + " failed: " + Errno.words(errno) + (advice.isEmpty() ? "" : "; " + advice));
    this.errno = errno;
  }

  /// The number of the error; 0 where the library did not say one.
  public int errno() {
    return errno;
  }

  /// Throws if `result` is negative.
  static void check(int result, String operation) {
    if (result < 0) {
      throw new VerbsException(operation, -result, "");
    }
  }
}
