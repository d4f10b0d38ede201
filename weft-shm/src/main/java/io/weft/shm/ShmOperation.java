// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import io.weft.transport.Completion;
import io.weft.transport.TransportException;
import io.weft.transport.region.LocalRegion;
import org.jspecify.annotations.Nullable;

/// One read or write that this side has posted or the peer has requested. Reused.
final class ShmOperation {

  enum OperationKind {
    WRITE,
    READ,
    /// A peer's read that this side answers; `context` is the peer's.
    SERVE,
    /// A read that was moved to the queue of waiting reads.
    VACANT
  }

  OperationKind kind = OperationKind.VACANT;
  @Nullable LocalRegion region;
  // The offset in the region of the side that posted the operation.
  long offset;
  long bytes;
  // The part of `bytes` that has been moved.
  long moved;
  int key;
  int context;
  long remoteOffset;
  // The immediate value of a write; for a served read, the key of the peer's target region.
  int immediate;
  @Nullable Completion done;
  @Nullable TransportException error;
  // True if its header is in the ring.
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

  /// Releases the region and fires the completion.
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
