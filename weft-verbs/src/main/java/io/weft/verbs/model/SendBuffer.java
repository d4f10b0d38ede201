// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.model;

import io.weft.verbs.device.Registration;
import java.lang.foreign.MemorySegment;

/// Registered memory in which a queue pair builds its frames before they leave. One thread.
public interface SendBuffer {

  /// The ticket of a frame whose place is given back by other means.
  int NO_TICKET = -1;

  /// What it is registered as.
  Registration registration();

  /// Where `memory` begins there.
  long offset();

  /// Where frames are built.
  MemorySegment memory();

  /// Whether there is room for a frame of so many bytes now.
  ///
  /// Hot path.
  boolean fits(int bytes);

  /// A place in `memory` for a frame of so many bytes, which `fits`, that goes to this index of the
  /// peer's ring.
  ///
  /// Hot path.
  int reserve(int index, int bytes);

  /// By which the last reserved place is given back once the device has sent what lies there:
  /// whoever posts it asks for a completion. `NO_TICKET` if nothing has to be given back.
  ///
  /// Hot path.
  int ticket();

  /// The device has sent it, or never will.
  ///
  /// Hot path.
  void giveBack(int ticket);
}
