// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.exchange;

import java.io.Serial;

/// Reports that a member sent a number of rows that a tensor cannot have. Never leaves the progress
/// thread.
public final class BadCount extends RuntimeException {

  @Serial private static final long serialVersionUID = 1L;

  private final int member;
  private final long rows;
  private final long rowBytes;

  public BadCount(int member, long rows, long rowBytes) {
    super(null, null, false, false);
    this.member = member;
    this.rows = rows;
    this.rowBytes = rowBytes;
  }

  public int member() {
    return member;
  }

  /// Returns a description of the count that follows the word "sent".
  public String what() {
    return "a count of " + rows + " rows of " + rowBytes + " bytes";
  }
}
