// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

/// Why a shard does not do what it was asked. Its text is the worker's answer.
final class Refusal extends Exception {

  private static final long serialVersionUID = 1L;

  private final boolean end;

  Refusal(String why) {
    this(why, false);
  }

  private Refusal(String why, boolean end) {
    super(why, null, false, false); // an answer, not a defect: no stack trace
    this.end = end;
  }

  /// The table has ended, for this reason.
  static Refusal ended(String why) {
    return new Refusal(why, true);
  }

  /// Whether the table has ended.
  boolean isEnd() {
    return end;
  }
}
