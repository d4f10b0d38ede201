// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.ring;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/// What is to be said to one peer about regions: that one is offered, withdrawn, or not touched any
/// more. Each leaves as a frame, before any message or write that is posted later. There are at
/// most three for each region of both sides. Polling thread only.
final class RegionNotices {

  private final Carrier carrier;
  private final ArrayDeque<Note> notes = new ArrayDeque<>();

  private record Note(
      int kind, int key, int deviceKey, long address, long bytes, @Nullable PeerGrant answered) {}

  RegionNotices(Carrier carrier) {
    this.carrier = carrier;
  }

  /// Of this kind, about the region with this key, ours or the peer's.
  void add(int kind, int key) {
    notes.add(new Note(kind, key, 0, 0, 0, null));
  }

  /// The same with where the region lies and what a device has to show.
  void add(int kind, int key, int deviceKey, long address, long bytes) {
    notes.add(new Note(kind, key, deviceKey, address, bytes, null));
  }

  /// The offer is withdrawn and not used any more; it hears when that has left.
  void answer(PeerGrant offer) {
    notes.add(new Note(VerbsFrame.WITHDRAWN, offer.key(), 0, 0, 0, offer));
  }

  /// Whether all have left.
  ///
  /// Hot path.
  boolean isEmpty() {
    return notes.isEmpty();
  }

  /// Gives the device what there is room for; returns the number of frames.
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
