// SPDX-License-Identifier: Apache-2.0
package io.weft.spark;

import java.io.Serial;

/// The failure of a program on one rank, rethrown on the driver. The message contains the rank, its
/// executor and the message of the exception; the cause contains the stack trace of the rank.
public final class RankFailedException extends RuntimeException {

  @Serial private static final long serialVersionUID = 1L;

  private final int rank;

  RankFailedException(int rank, String message, String trace) {
    super(message, new RemoteTrace(trace));
    this.rank = rank;
  }

  /// Returns the rank that failed first.
  public int rank() {
    return rank;
  }

  /// The stack trace of an exception on an executor, as text.
  private static final class RemoteTrace extends RuntimeException {

    @Serial private static final long serialVersionUID = 1L;

    RemoteTrace(String trace) {
      super(trace, null, false, false);
    }
  }
}
