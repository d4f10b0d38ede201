// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.frame;

/// How far a worker of a synchronous table may be ahead: shards keep no more clocks, and workers do
/// not send more.
public final class Ahead {

  /// Clocks beyond the last that was applied.
  public static final int CLOCKS = 2;

  private Ahead() {}
}
