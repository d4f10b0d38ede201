// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.ring;

import java.util.ArrayDeque;

/// The queue of notices to one peer about blocks that are offered or withdrawn, and regions that
/// are closed or left. Each is sent as a frame, before any message or write that is posted later.
/// Polling thread only.
final class RegionNotices {

  private static final int MAX_NOTES = 1 << 18;

  private final Carrier carrier;
  private final ArrayDeque<Note> notes = new ArrayDeque<>();

  private record Note(int kind, int key, long address, long bytes) {}

  RegionNotices(Carrier carrier) {
    this.carrier = carrier;
  }

  /// Adds a notice of this kind about the block or region with this key.
  void add(int kind, int key) {
    notes.add(new Note(kind, key, 0, 0));
  }

  /// Adds a notice that includes the location of the block.
  void add(int kind, int key, long address, long bytes) {
    notes.add(new Note(kind, key, address, bytes));
  }

  /// Returns whether all notices are posted.
  ///
  /// Hot path.
  boolean isEmpty() {
    return notes.isEmpty();
  }

  /// Throws `VerbsFault` if a peer that receives nothing causes more answers than a correct one
  /// can.
  void check() throws VerbsFault {
    if (notes.size() > MAX_NOTES) {
      throw new VerbsFault("more than " + MAX_NOTES + " notices that it does not receive");
    }
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
          carrier.sendBuffer(), place, note.kind, 0, note.key, 0, note.address, note.bytes);
      carrier.post(place, 0, false);
      notes.remove();
      frames++;
    }
    return frames;
  }
}
