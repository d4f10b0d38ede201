// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

/// The reason why a shard does not execute a request. Its text is the answer to the worker.
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

  /// Returns the refusal of a table that has ended for this reason.
  static Refusal ended(String why) {
    return new Refusal(why, true);
  }

  boolean isEnd() {
    return end;
  }
}
