// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.mapped;

import io.weft.collective.exchange.CollectiveContext;
import io.weft.collective.frame.MemoryDescriptor;
import io.weft.transport.MemoryRegion;
import io.weft.transport.RemoteRegion;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The memory of one rank that its peers access in one exchange: its tensors or, if these are
/// private, a bounce buffer. Peers read its input from the bounce buffer part by part, and write
/// their pieces of the result there. This rank's slice needs no room there. A bounce buffer costs
/// one more copy in and one out, of (n-1)/n of the bytes each, of data that is in a cache. Confined
/// to the progress thread.
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

  /// Registers the memory. Returns the code of `MemoryDescriptor` that peers receive.
  ///
  /// @param owner owner of the registration
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

  /// Returns the region from which peers read the input.
  RemoteRegion input() {
    return Objects.requireNonNull(input).export();
  }

  /// Returns the region to which peers write the output; the input's region where they need no
  /// other.
  RemoteRegion output() {
    return output == null ? input() : output.export();
  }

  /// Copies the peers' pieces of a part into the bounce buffer.
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

  /// Copies the pieces of a part that peers have written to the output.
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

  /// Releases the memory, which no peer accesses any more.
  void release() {
    if (bounceBuffer != null) {
      context.staging().giveBack(bounceBuffer);
      bounceBuffer = null;
      input = null;
    }
    close();
  }

  /// Releases the memory while peers may still access a bounce buffer, which is not used again.
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

  /// Returns whether a peer accesses tensors of this rank.
  boolean isVisited() {
    return (input != null && input.isVisited()) || (output != null && output.isVisited());
  }
}
