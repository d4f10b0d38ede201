// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.ring;

import io.weft.verbs.device.Registration;
import java.lang.foreign.MemorySegment;

/// Carries frames between two peers by rings and requests to the device. Requests are numbered
/// consecutively and complete in order. Methods that post throw `VerbsException` if the device
/// refuses.
public interface Carrier {

  /// Returns the longest payload of a frame.
  int maxPayload();

  /// Begins a frame whose payload is copied after its header. Returns its place in `sendBuffer`, or
  /// -1 if it does not fit now. The frame must be posted before the next one begins.
  ///
  /// Hot path.
  int begin(int payload);

  /// Begins a frame whose payload the device reads from other memory; otherwise as `begin`.
  ///
  /// Hot path.
  int beginFetched(int payload);

  /// Returns the memory in which frames are built.
  MemorySegment sendBuffer();

  /// Writes the current frame, whose payload follows its header.
  ///
  /// Hot path.
  void post(int place, int payload, boolean signal);

  /// Writes the current frame, whose payload the device reads from other memory.
  ///
  /// Hot path.
  void post(int place, int payload, Registration from, long offset, boolean signal);

  /// Writes the current frame after its payload, which the device writes directly to the peer's
  /// region.
  ///
  /// Hot path.
  void place(
      int place, int payload, Registration from, long offset, long to, int key, boolean signal);

  /// Makes the device read the peer's memory; returns false if the request does not fit now.
  ///
  /// Hot path.
  boolean fetch(Registration into, long offset, int bytes, long from, int key);

  /// Returns the number of the last posted request.
  long posted();

  /// Returns the number up to which all requests have completed.
  long retired();

  /// Returns the ring of the peer's frames; the peer may change it at any time.
  MemorySegment receiveRing();

  /// Returns the index of the frame with this immediate value.
  int indexOf(int immediate) throws VerbsFault;

  /// Handles the peer's credit for consumed frames in this immediate value.
  ///
  /// Hot path.
  void credit(int immediate) throws VerbsFault;

  /// Consumes a frame with this payload; its place may be overwritten.
  ///
  /// Hot path.
  void consumed(int payload);
}
