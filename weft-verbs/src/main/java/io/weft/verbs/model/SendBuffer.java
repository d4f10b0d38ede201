// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.model;

import io.weft.verbs.device.Registration;
import java.lang.foreign.MemorySegment;

/// Registered memory in which a queue pair builds frames before they are sent. Confined to one
/// thread.
public interface SendBuffer {

  /// The ticket of a frame whose place is released by other means.
  int NO_TICKET = -1;

  /// Returns the registration of the memory.
  Registration registration();

  /// Returns the offset of `memory` in the registration.
  long offset();

  /// Returns the memory in which frames are built.
  MemorySegment memory();

  /// Returns whether there is room for a frame of `bytes` now.
  ///
  /// Hot path.
  boolean fits(int bytes);

  /// Reserves a place in `memory` for a frame of `bytes`, which must fit, for this index of the
  /// peer's ring.
  ///
  /// Hot path.
  int reserve(int index, int bytes);

  /// Returns the ticket that releases the last reserved place after the device has sent it, for
  /// which the poster must request a completion. Returns `NO_TICKET` if the place need not be
  /// released.
  ///
  /// Hot path.
  int ticket();

  /// Releases a place after the device has sent it, or if it never will.
  ///
  /// Hot path.
  void giveBack(int ticket);
}
