// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.model;

import io.weft.verbs.device.Registration;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/// The places of one queue pair in a send buffer: that of the frame being built, and those of
/// incomplete requests. Confined to one thread.
public final class FramePlaces {

  private final SendBuffer buffer;
  // Indexed by the number of the request.
  private final int[] tickets;
  private int begun = SendBuffer.NO_TICKET;

  /// @param requests maximum number of incomplete requests, a power of two
  public FramePlaces(SendBuffer buffer, int requests) {
    this.buffer = buffer;
    tickets = new int[requests];
    Arrays.fill(tickets, SendBuffer.NO_TICKET);
  }

  /// Returns the registration of the buffer.
  public Registration registration() {
    return buffer.registration();
  }

  /// Returns the offset of a place in the registration.
  ///
  /// Hot path.
  public long offset(int place) {
    return buffer.offset() + place;
  }

  /// Returns the memory in which frames are built.
  public MemorySegment memory() {
    return buffer.memory();
  }

  /// Returns whether there is room for a frame of `bytes` now.
  ///
  /// Hot path.
  public boolean fits(int bytes) {
    return buffer.fits(bytes);
  }

  /// Begins a frame of `bytes`, which must fit, for this index of the peer's ring; returns its
  /// place. The frame must be posted before the next one begins.
  ///
  /// Hot path.
  public int begin(int index, int bytes) {
    int place = buffer.reserve(index, bytes);
    begun = buffer.ticket();
    return place;
  }

  /// Returns whether the request of the current frame must be signaled.
  ///
  /// Hot path.
  public boolean needsSignal() {
    return begun != SendBuffer.NO_TICKET;
  }

  /// Records that the request with this number sends the current frame.
  ///
  /// Hot path.
  public void posted(long request) {
    tickets[slot(request)] = begun;
    begun = SendBuffer.NO_TICKET;
  }

  /// Records that a request has completed, even if it did not send a frame.
  ///
  /// Hot path.
  public void ended(long request) {
    int slot = slot(request);
    if (tickets[slot] != SendBuffer.NO_TICKET) {
      buffer.giveBack(tickets[slot]);
      tickets[slot] = SendBuffer.NO_TICKET;
    }
  }

  private int slot(long request) {
    return (int) request & (tickets.length - 1);
  }

  /// Releases the current frame, if any, which will never be posted.
  public void abandon() {
    if (begun != SendBuffer.NO_TICKET) {
      buffer.giveBack(begun);
      begun = SendBuffer.NO_TICKET;
    }
  }
}
