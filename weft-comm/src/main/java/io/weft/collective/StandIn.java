// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import io.weft.transport.MemoryRegion;
import java.lang.foreign.MemorySegment;

/// A staging window that stands in for this rank's private tensor: peers find its input there, and
/// leave their slices of the result. Its own slice needs no place there. One more copy in and one
/// out, of (n-1)/n of the bytes each, and as few messages as with memory in common. Confined to the
/// lane's thread.
final class StandIn {

  private final SharedStage stage;
  private final MemoryRegion window;

  /// A window at least as long as the tensor.
  StandIn(SharedStage stage, MemoryRegion window) {
    this.stage = stage;
    this.window = window;
  }

  MemoryRegion window() {
    return window;
  }

  /// Copies a slice of the input for the member that combines it.
  void show(int member) {
    copy(stage.input(), window.segment(), member);
  }

  /// Copies a slice of the result, which a member has combined.
  void take(int member) {
    copy(window.segment(), stage.output(), member);
  }

  private void copy(MemorySegment from, MemorySegment to, int member) {
    long at = stage.slice(member);
    MemorySegment.copy(from, at, to, at, stage.slice(member + 1) - at);
  }
}
