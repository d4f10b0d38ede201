// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.model;

import io.weft.verbs.device.Registration;
import java.lang.foreign.MemorySegment;

/// A send buffer of one queue pair, which mirrors the peer's ring. Room in the peer's ring implies
/// room here, because the peer's credit confirms that a frame has arrived.
///
/// @param registration of the memory
/// @param offset of the memory in the registration
/// @param memory with the length of the peer's ring
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
