// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.ring;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/// The queue of notices to one peer about regions that are offered, withdrawn, or no longer
/// accessed. Each is sent as a frame, before any message or write that is posted later. The queue
/// contains at most three notices for each region of both sides. Polling thread only.
final class RegionNotices {

  private final Carrier carrier;
  private final ArrayDeque<Note> notes = new ArrayDeque<>();

  private record Note(
      int kind, int key, int deviceKey, long address, long bytes, @Nullable PeerGrant answered) {}

  RegionNotices(Carrier carrier) {
    this.carrier = carrier;
  }

  /// Adds a notice of this kind about the region with this key, which is local or the peer's.
  void add(int kind, int key) {
    notes.add(new Note(kind, key, 0, 0, 0, null));
  }

  /// Adds a notice that includes the location of the region and the key for a device.
  void add(int kind, int key, int deviceKey, long address, long bytes) {
    notes.add(new Note(kind, key, deviceKey, address, bytes, null));
  }

  /// Adds the answer to a withdrawal; the offer is marked as answered when the frame is posted.
  void answer(PeerGrant offer) {
    notes.add(new Note(VerbsFrame.WITHDRAWN, offer.key(), 0, 0, 0, offer));
  }

  /// Returns whether all notices are posted.
  ///
  /// Hot path.
  boolean isEmpty() {
    return notes.isEmpty();
  }

  /// Posts notices to the device as far as they fit; returns the number of frames.
  ///
  /// Hot path.
  int push() {
    int frames = 0;
    for (Note note = notes.peek(); note != null; note = notes.peek()) {
      int place = carrier.begin(0);
      if (place < 0) {
        break;
      }
      VerbsFrame.header(
          carrier.sendBuffer(),
          place,
          note.kind,
          0,
          note.key,
          note.deviceKey,
          note.address,
          note.bytes);
      carrier.post(place, 0, false);
      notes.remove();
      PeerGrant answered = note.answered;
      if (answered != null) {
        answered.answer();
      }
      frames++;
    }
    return frames;
  }
}
