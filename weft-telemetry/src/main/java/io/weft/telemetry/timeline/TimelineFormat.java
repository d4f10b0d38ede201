// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.timeline;

import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;

/// The format of timeline files: `MAGIC`, a version, then frames. A frame is a type (one byte), a
/// length (four bytes), the payload of that length, and the CRC-32C of the three.
final class TimelineFormat {

  static final byte[] MAGIC = "WEFTTRCE".getBytes(StandardCharsets.US_ASCII);

  static final int VERSION = 1;

  static final byte HEADER = 1;
  static final byte CLOCKS = 2;
  static final byte THREADS = 3;
  static final byte NAMES = 4;
  static final byte EVENTS = 5;
  static final byte END = 6;

  /// The maximum length of a frame's payload.
  static final int MOST_FRAME_BYTES = 1 << 16;

  static final int MOST_CLOCKS = 1 << 10;
  static final int MOST_RANKS = 1 << 16;

  /// The maximum number of names in a frame.
  static final int MOST_NAMES = 64;

  /// The maximum number of events in a frame.
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

  /// Returns the text, cut to at most `characters` characters.
  static String shortened(String text, int characters) {
    if (text.length() <= characters) {
      return text;
    }
    int end = Character.isHighSurrogate(text.charAt(characters - 1)) ? characters - 1 : characters;
    return text.substring(0, end);
  }
}
