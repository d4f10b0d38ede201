// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.timeline;

import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;

/// What reader and writer of timeline files agree on: `MAGIC`, a version, then frames of a type
/// (one byte), a length (four), so many bytes, and the CRC-32C of the three.
final class TimelineFormat {

  /// The first eight bytes.
  static final byte[] MAGIC = "WEFTTRCE".getBytes(StandardCharsets.US_ASCII);

  static final int VERSION = 1;

  static final byte HEADER = 1;
  static final byte CLOCKS = 2;
  static final byte THREADS = 3;
  static final byte NAMES = 4;
  static final byte EVENTS = 5;
  static final byte END = 6;

  /// Longest payload of a frame.
  static final int MOST_FRAME_BYTES = 1 << 16;

  static final int MOST_CLOCKS = 1 << 10;
  static final int MOST_RANKS = 1 << 16;

  /// In one frame.
  static final int MOST_NAMES = 64;

  /// In one frame.
  static final int MOST_EVENTS = 1 << 10;

  static final int MOST_NAME_CHARACTERS = 256;
  static final int MOST_THREAD_CHARACTERS = 64;

  private TimelineFormat() {}

  static int checksum(byte type, byte[] payload) {
    var crc = new CRC32C();
    crc.update(type);
    for (int shift = 24; shift >= 0; shift -= 8) {
      crc.update(payload.length >>> shift);
    }
    crc.update(payload);
    return (int) crc.getValue();
  }

  /// The beginning of a text that is too long.
  static String shortened(String text, int characters) {
    if (text.length() <= characters) {
      return text;
    }
    int end = Character.isHighSurrogate(text.charAt(characters - 1)) ? characters - 1 : characters;
    return text.substring(0, end);
  }
}
