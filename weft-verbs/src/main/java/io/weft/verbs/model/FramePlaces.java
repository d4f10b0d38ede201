// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.model;

import io.weft.verbs.device.Registration;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/// The places that one queue pair has in a send buffer: of the frame that is begun, and of those
/// whose requests have not ended. One thread.
public final class FramePlaces {

  private final SendBuffer buffer;
  // By number of the request.
  private final int[] tickets;
  private int begun = SendBuffer.NO_TICKET;

  /// @param requests that can be under way at a time, a power of two
  public FramePlaces(SendBuffer buffer, int requests) {
    this.buffer = buffer;
    tickets = new int[requests];
    Arrays.fill(tickets, SendBuffer.NO_TICKET);
  }

  /// What the buffer is registered as.
  public Registration registration() {
    return buffer.registration();
  }

  /// Where a place lies there.
  ///
  /// Hot path.
  public long offset(int place) {
    return buffer.offset() + place;
  }

  /// Where frames are built.
  public MemorySegment memory() {
    return buffer.memory();
  }

  /// Whether there is room for a frame of so many bytes now.
  ///
  /// Hot path.
  public boolean fits(int bytes) {
    return buffer.fits(bytes);
  }

  /// Begins a frame of so many bytes, which `fits`, that goes to this index of the peer's ring:
  /// where it is built. It is posted before another one is begun.
  ///
  /// Hot path.
  public int begin(int index, int bytes) {
    int place = buffer.reserve(index, bytes);
    begun = buffer.ticket();
    return place;
  }

  /// Whether the request of the frame that is begun has to signal its end.
  ///
  /// Hot path.
  public boolean needsSignal() {
    return begun != SendBuffer.NO_TICKET;
  }

  /// The frame that is begun has left by the request with this number.
  ///
  /// Hot path.
  public void posted(long request) {
    tickets[slot(request)] = begun;
    begun = SendBuffer.NO_TICKET;
  }

  /// That request has ended, whether it was a frame's or not.
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

  /// The frame that was begun, if any, will never be posted.
  public void abandon() {
    if (begun != SendBuffer.NO_TICKET) {
      buffer.giveBack(begun);
      begun = SendBuffer.NO_TICKET;
    }
  }
}
