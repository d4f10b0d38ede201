// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import io.weft.transport.Completion;
import io.weft.transport.TransportException;
import io.weft.transport.region.LocalRegion;
import org.jspecify.annotations.Nullable;

/// One read or write: posted here, or asked for by the peer. Reused.
final class ShmOperation {

  enum OperationKind {
    WRITE,
    READ,
    /// A read of the peer's that we answer; `context` is the peer's.
    SERVE,
    /// Has moved on to those who wait for their answer.
    VACANT
  }

  OperationKind kind = OperationKind.VACANT;
  @Nullable LocalRegion region;
  // In the region of whoever posted this.
  long offset;
  long bytes;
  // How many of `bytes` are moved.
  long moved;
  int key;
  int context;
  long remoteOffset;
  // Of a write; of a read that we answer the key of the peer's region where it goes.
  int immediate;
  @Nullable Completion done;
  @Nullable TransportException error;
  // Its header is in the ring.
  boolean announced;
  boolean executed;

  void begin(OperationKind what) {
    kind = what;
    moved = 0;
    error = null;
    announced = false;
    executed = false;
  }

  void take(ShmOperation other) {
    begin(other.kind);
    region = other.region;
    offset = other.offset;
    bytes = other.bytes;
    context = other.context;
    done = other.done;
    other.clear();
    other.executed = true;
  }

  void clear() {
    kind = OperationKind.VACANT;
    region = null;
    done = null;
    error = null;
  }

  LocalRegion own() {
    LocalRegion some = region;
    if (some == null) {
      throw new IllegalStateException("this operation is not posted");
    }
    return some;
  }

  /// Gives the region back and tells whoever posted this.
  void finish(@Nullable TransportException failure) {
    LocalRegion used = region;
    Completion completion = done;
    clear();
    if (used != null) {
      used.settle();
    }
    if (completion != null) {
      completion.complete(failure);
    }
  }
}
