// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.inproc;

import io.weft.transport.Completion;
import io.weft.transport.TransportException;
import io.weft.transport.region.LocalRegion;
import org.jspecify.annotations.Nullable;

/// One posted operation, in its place in the pipe. Written by the posting side until it is
/// published, then read by the receiving side until it is consumed. Reused.
final class InprocMessage {

  enum MessageKind {
    /// Bytes in the pipe's staging memory.
    MESSAGE,
    /// A write; when published its bytes have landed.
    WRITE,
    /// A read or something refused; nothing for the receiver.
    SILENT
  }

  MessageKind kind = MessageKind.SILENT;
  int immediate;
  int at;
  int bytes;

  /// Of a write.
  long length;

  // The posting side's own.
  long stagedTo;
  @Nullable LocalRegion region;
  long offset;
  long remaining;
  int remoteKey;
  long remoteOffset;
  @Nullable Completion done;
  @Nullable TransportException error;

  /// What it brings to the receiver, in bytes, at least one.
  long traffic() {
    return switch (kind) {
      case MESSAGE -> 1L + bytes;
      case WRITE -> 1L + length;
      case SILENT -> 1;
    };
  }
}
