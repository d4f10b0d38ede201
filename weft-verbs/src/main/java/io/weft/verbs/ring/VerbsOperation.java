// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.ring;

import io.weft.transport.Completion;
import io.weft.transport.TransportException;
import io.weft.transport.region.LocalRegion;
import io.weft.verbs.memory.Pin;
import org.jspecify.annotations.Nullable;

/// One read or write that was posted here, or a read that the peer has requested. Reused.
final class VerbsOperation {

  VerbsOutbound.SendKind kind = VerbsOutbound.SendKind.WRITE;
  @Nullable LocalRegion region;
  // The pin through which the device can access the local memory directly.
  @Nullable Pin pinned;
  // The offer by which the device moves the bytes directly between both memories.
  @Nullable PeerGrant offer;
  long offset;
  long bytes;
  // The part of `bytes` that was sent or received.
  long moved;
  int key;
  // The address of the region at the peer, if the device may access it there.
  long remoteAddress;
  long remoteOffset;
  int immediate;
  @Nullable Completion done;
  @Nullable TransportException error;
  // The work request after which the payload may be reused.
  long lastRequest;

  LocalRegion own() {
    LocalRegion some = region;
    if (some == null) {
      throw new IllegalStateException("this operation is not posted");
    }
    return some;
  }

  void clear() {
    region = null;
    pinned = null;
    offer = null;
    done = null;
    error = null;
    moved = 0;
    lastRequest = 0;
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
