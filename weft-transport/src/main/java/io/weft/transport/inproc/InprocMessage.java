// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.inproc;

import io.weft.transport.Completion;
import io.weft.transport.TransportException;
import io.weft.transport.region.LocalRegion;
import org.jspecify.annotations.Nullable;

/// One posted operation in a slot of the pipe. The posting side writes it and publishes it; then
/// the receiving side reads it and consumes it. Slots are reused.
final class InprocMessage {

  enum MessageKind {
    /// A message in the pipe's staging memory.
    MESSAGE,
    /// A write, whose bytes have been copied when it is published.
    WRITE,
    /// A read or a refused operation, which the receiver ignores.
    SILENT
  }

  MessageKind kind = MessageKind.SILENT;
  int immediate;
  int at;
  int bytes;

  /// The length of a write.
  long length;

  // Fields of the posting side only.
  long stagedTo;
  @Nullable LocalRegion region;
  long offset;
  long remaining;
  int remoteKey;
  long remoteOffset;
  @Nullable Completion done;
  @Nullable TransportException error;

  /// Returns the bytes that the operation adds to the receiver's traffic, at least one.
  long traffic() {
    return switch (kind) {
      case MESSAGE -> 1L + bytes;
      case WRITE -> 1L + length;
      case SILENT -> 1;
    };
  }
}
