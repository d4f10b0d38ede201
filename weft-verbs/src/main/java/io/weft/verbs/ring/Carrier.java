// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.ring;

import io.weft.verbs.device.Registration;
import java.lang.foreign.MemorySegment;

/// The way of frames to one peer and back: rings, and requests to the device. The next request has
/// the number that follows that of the last one; requests end in their order. Methods that post
/// throw `VerbsException` where the device refuses.
public interface Carrier {

  /// Begins a frame whose payload is copied behind its header: where it is built in `sendBuffer`,
  /// or -1 if there is no room now. It is posted before another one is begun.
  ///
  /// Hot path.
  int begin(int payload);

  /// The same for a frame whose payload the device fetches from elsewhere.
  ///
  /// Hot path.
  int beginFetched(int payload);

  /// Where frames are built.
  MemorySegment sendBuffer();

  /// Writes a begun frame whose payload lies behind its header.
  ///
  /// Hot path.
  void post(int place, int payload, boolean signal);

  /// Writes a begun frame whose payload the device fetches from elsewhere.
  ///
  /// Hot path.
  void post(int place, int payload, Registration from, long offset, boolean signal);

  /// Writes a begun frame whose payload the device brings into the peer's memory itself.
  ///
  /// Hot path.
  void place(
      int place, int payload, Registration from, long offset, long to, int key, boolean signal);

  /// Has the device fetch bytes of the peer's memory; false if there is no room now.
  ///
  /// Hot path.
  boolean fetch(Registration into, long offset, int bytes, long from, int key);

  /// The last request that was posted.
  long posted();

  /// All requests up to this one have ended.
  long retired();

  /// Where the peer's frames arrive; the peer may change it at any time.
  MemorySegment receiveRing();

  /// Where the frame with this immediate value begins.
  int indexOf(int immediate) throws VerbsFault;

  /// The peer has consumed frames, as this immediate value says.
  ///
  /// Hot path.
  void credit(int immediate) throws VerbsFault;

  /// A frame with this payload is consumed: its place may be written again.
  ///
  /// Hot path.
  void consumed(int payload);
}
