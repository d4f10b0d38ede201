// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.mapped;

import io.weft.collective.exchange.CollectiveContext;
import io.weft.collective.frame.MemoryDescriptor;
import io.weft.transport.MemoryRegion;
import io.weft.transport.RemoteRegion;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// What one rank lets its peers work on in one exchange: its tensors or, where they are private, a
/// bounce buffer, in which peers find its input part by part, and leave their pieces of the result.
/// Its own slice needs no place there. That is one more copy in and one out, of (n-1)/n of the
/// bytes each, of what is found in a cache. Confined to the progress thread.
final class ExposedMemory {

  private final SliceLayout layout;
  private final CollectiveContext context;
  private final int rank;
  private @Nullable MemoryRegion input;
  private @Nullable MemoryRegion output;
  private @Nullable MemoryRegion bounceBuffer;

  ExposedMemory(SliceLayout layout, CollectiveContext context, int rank) {
    this.layout = layout;
    this.context = context;
    this.rank = rank;
  }

  /// Registers it. Returns what peers are told of it: a code of `MemoryDescriptor`.
  ///
  /// @param owner of the registration
  int register(Object owner) {
    MemoryRegion in = context.register(layout.input(), owner);
    input = in;
    if (!layout.isDisjoint(rank)) {
      return MemoryDescriptor.PRIVATE;
    }
    MemoryRegion out = in;
    if (!layout.onlyInput()) {
      out = context.register(layout.output(), owner);
      output = out;
    }
    if (in.isMappable() && out.isMappable()) {
      return MemoryDescriptor.TENSORS;
    }
    MemoryRegion window = context.staging().tryLease(layout.windowBytes());
    if (window == null) {
      return MemoryDescriptor.PRIVATE;
    }
    close();
    output = null;
    input = window;
    bounceBuffer = window;
    return window.isMappable() ? MemoryDescriptor.BOUNCE_BUFFER : MemoryDescriptor.PRIVATE;
  }

  boolean bounces() {
    return bounceBuffer != null;
  }

  /// Where peers find the input.
  RemoteRegion input() {
    return Objects.requireNonNull(input).export();
  }

  /// Where they leave the output; the same region where they need no other.
  RemoteRegion output() {
    return output == null ? input() : output.export();
  }

  /// Copies what peers need of a part into the bounce buffer.
  ///
  /// Hot path.
  void copyIn(int part) {
    MemorySegment window = Objects.requireNonNull(bounceBuffer).segment();
    for (int m = 0; m < layout.size(); m++) {
      if (m != rank) {
        MemorySegment.copy(
            layout.input(),
            layout.begin(m, part),
            window,
            layout.inWindow(m, part),
            layout.bytes(m, part));
      }
    }
  }

  /// Copies what peers have left of a part to where it belongs.
  ///
  /// Hot path.
  void copyOut(int part) {
    MemorySegment window = Objects.requireNonNull(bounceBuffer).segment();
    for (int m = 0; m < layout.size(); m++) {
      if (m != rank && !layout.undone().get(m)) {
        MemorySegment.copy(
            window,
            layout.inWindow(m, part),
            layout.output(),
            layout.begin(m, part),
            layout.bytes(m, part));
      }
    }
  }

  /// Nobody works on it any more.
  void release() {
    if (bounceBuffer != null) {
      context.staging().giveBack(bounceBuffer);
      bounceBuffer = null;
      input = null;
    }
    close();
  }

  /// The same where peers may still be inside a bounce buffer, which then is not used again.
  void abandon() {
    if (bounceBuffer != null) {
      context.staging().forget(bounceBuffer);
      bounceBuffer = null;
      input = null;
    }
    close();
  }

  private void close() {
    if (input != null) {
      input.close();
    }
    if (output != null) {
      output.close();
    }
  }

  /// Whether somebody is inside tensors of this rank.
  boolean isVisited() {
    return (input != null && input.isVisited()) || (output != null && output.isVisited());
  }
}
