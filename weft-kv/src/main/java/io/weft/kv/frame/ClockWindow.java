// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.frame;

/// The number of clocks by which a worker of a synchronous table may be ahead. Shards buffer no
/// more clocks, and workers send no more.
public final class ClockWindow {

  /// The number of clocks beyond the last applied one.
  public static final int CLOCKS = 2;

  private ClockWindow() {}
}
