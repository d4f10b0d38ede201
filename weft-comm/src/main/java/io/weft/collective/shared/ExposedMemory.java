// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.shared;

import io.weft.collective.exchange.CollectiveContext;
import io.weft.collective.frame.MemoryDescriptor;
import io.weft.transport.MemoryRegion;
import io.weft.transport.RemoteRegion;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// What one rank lets its peers work on in one exchange: its tensors or, where they are private, a
/// window that stands in for them. Confined to the progress thread.
final class ExposedMemory {

  private final MappedReduceStage stage;
  private final CollectiveContext context;
  private @Nullable MemoryRegion input;
  private @Nullable MemoryRegion output;
  private @Nullable BounceBuffer bounceBuffer;

  ExposedMemory(MappedReduceStage stage, CollectiveContext context) {
    this.stage = stage;
    this.context = context;
  }

  /// Registers it for a rank. False if it is private, and nothing stands in for it.
  ///
  /// @param owner of the registration
  /// @param indirect a window, if there is one, stands in for any tensor
  boolean register(int rank, Object owner, boolean indirect) {
    MemoryRegion in = context.register(stage.input(), owner);
    input = in;
    if (!stage.isApart(rank)) {
      return false;
    }
    MemoryRegion out = in;
    if (!stage.onlyInput()) {
      out = context.register(stage.output(), owner);
      output = out;
    }
    boolean mappable = in.isMappable() && out.isMappable();
    if (mappable && !indirect) {
      return true;
    }
    MemoryRegion window = context.staging().tryLease(stage.input().byteSize());
    if (window == null) {
      return mappable;
    }
    release();
    input = window;
    output = null;
    bounceBuffer = new BounceBuffer(stage, window, rank);
    stage.bounceBuffer();
    return window.isMappable();
  }

  /// Null where the tensors themselves are shown.
  @Nullable BounceBuffer bounceBuffer() {
    return bounceBuffer;
  }

  /// A code of `MemoryDescriptor`.
  int kind() {
    return bounceBuffer == null ? MemoryDescriptor.TENSORS : MemoryDescriptor.STAND_IN;
  }

  /// Where peers find the input.
  RemoteRegion input() {
    return Objects.requireNonNull(input).export();
  }

  /// Where they leave the output; the same region where they need no other.
  RemoteRegion output() {
    return output == null ? input() : output.export();
  }

  /// Nobody works on it any more.
  void release() {
    if (bounceBuffer != null) {
      context.staging().giveBack(bounceBuffer.window());
      bounceBuffer = null;
      input = null;
    }
    close();
  }

  /// The same where peers may still be inside a bounce buffer, which then is not used again.
  void abandon() {
    if (bounceBuffer != null) {
      context.staging().forget(bounceBuffer.window());
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
