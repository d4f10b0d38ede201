// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.model;

import io.weft.verbs.device.Registration;
import java.lang.foreign.MemorySegment;

/// A send buffer of one queue pair: an image of the peer's ring. Where the peer has room there is
/// room here, for its credit says that the frame has arrived.
///
/// @param registration of the memory
/// @param offset where it begins there
/// @param memory as long as the peer's ring
public record OwnSendBuffer(Registration registration, long offset, MemorySegment memory)
    implements SendBuffer {

  @Override
  public boolean fits(int bytes) {
    return true;
  }

  @Override
  public int reserve(int index, int bytes) {
    return index;
  }

  @Override
  public int ticket() {
    return NO_TICKET;
  }

  @Override
  public void giveBack(int ticket) {}
}
