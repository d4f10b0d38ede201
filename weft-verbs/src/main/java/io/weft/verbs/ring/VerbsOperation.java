// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.ring;

import io.weft.transport.Completion;
import io.weft.transport.TransportException;
import io.weft.transport.region.LocalRegion;
import io.weft.verbs.memory.Pin;
import org.jspecify.annotations.Nullable;

/// One read or write: posted here, or a read that the peer has asked for. Reused.
final class VerbsOperation {

  VerbsOutbound.SendKind kind = VerbsOutbound.SendKind.WRITE;
  @Nullable LocalRegion region;
  // Where the device may fetch the payload itself.
  @Nullable Pin pinned;
  // By which the device moves the bytes in both memories itself.
  @Nullable PeerGrant offer;
  long offset;
  long bytes;
  // How many of `bytes` have left, or have come.
  long moved;
  int key;
  long remoteOffset;
  int immediate;
  @Nullable Completion done;
  @Nullable TransportException error;
  // The work request after which the payload is reusable.
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
