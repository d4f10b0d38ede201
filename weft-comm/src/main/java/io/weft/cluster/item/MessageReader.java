// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.item;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.weft.text.Printable;
import io.weft.transport.RemoteRegion;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;

/// A reader of the items of one message. Messages of peers are not trusted: malformed data makes
/// the reader unsound, and from then on it returns zeros and empty values. The caller must check
/// `isSound` before it uses the values.
public final class MessageReader {

  /// The type returned after the last item.
  public static final int END = -1;

  private MemorySegment message = MemorySegment.NULL;
  private long at;
  private long end;
  private int left;
  private boolean sound;

  /// Creates a reader without a message.
  public MessageReader() {}

  /// Begins a message. The reader is valid while the message is.
  public void begin(MemorySegment received) {
    message = received;
    end = received.byteSize();
    sound = end >= MessageWriter.HEADER_BYTES && received.get(JAVA_BYTE, 1) == 0;
    left = sound ? received.get(JAVA_SHORT_UNALIGNED, 2) & 0xffff : 0;
    sound &= left > 0;
    at = MessageWriter.HEADER_BYTES;
  }

  /// Returns whether everything read from this message was present and well-formed.
  public boolean isSound() {
    return sound;
  }

  /// Marks the message as malformed.
  public void distrust() {
    sound = false;
  }

  /// Returns the next item's type, 0 to 255. Returns `END` after the last item; the message is
  /// sound only if nothing follows.
  ///
  /// Hot path.
  public int next() {
    if (!sound || left == 0) {
      sound &= at == end;
      return END;
    }
    left--;
    int type = one();
    return sound ? type : END;
  }

  /// Reads one byte, 0 to 255.
  ///
  /// Hot path.
  public int one() {
    return has(1) ? message.get(JAVA_BYTE, at++) & 0xff : 0;
  }

  /// Reads four bytes.
  ///
  /// Hot path.
  public int number() {
    if (!has(4)) {
      return 0;
    }
    at += 4;
    return message.get(JAVA_INT_UNALIGNED, at - 4);
  }

  /// Reads eight bytes.
  ///
  /// Hot path.
  public long longNumber() {
    if (!has(8)) {
      return 0;
    }
    at += 8;
    return message.get(JAVA_LONG_UNALIGNED, at - 8);
  }

  /// Reads a region of the peer.
  public RemoteRegion region() {
    return new RemoteRegion(longNumber(), longNumber(), number(), longNumber());
  }

  /// Returns the next bytes, valid while the message is.
  public MemorySegment bytes(long count) {
    if (!has(count)) {
      return MemorySegment.NULL;
    }
    at += count;
    return message.asSlice(at - count, count);
  }

  /// Reads a text of at most `mostBytes` bytes, preceded by its length in 2 bytes. Makes it
  /// printable.
  public String text(int mostBytes) {
    if (!has(2)) {
      return "";
    }
    at += 2;
    int length = message.get(JAVA_SHORT_UNALIGNED, at - 2) & 0xffff;
    if (length > mostBytes || !has(length)) {
      sound = false;
      return "";
    }
    byte[] text = bytes(length).toArray(JAVA_BYTE);
    return Printable.of(new String(text, StandardCharsets.UTF_8));
  }

  private boolean has(long bytes) {
    sound &= bytes >= 0 && bytes <= end - at;
    return sound;
  }
}
