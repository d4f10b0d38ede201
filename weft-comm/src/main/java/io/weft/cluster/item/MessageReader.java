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

/// Reads a message item by item. What a peer sends is not trusted: whatever does not fit makes the
/// reader unsound, and from then on it reads zeros and empty things. Ask `isSound` before using
/// what was read.
public final class MessageReader {

  /// In place of a type, behind the last item.
  public static final int END = -1;

  private MemorySegment message = MemorySegment.NULL;
  private long at;
  private long end;
  private int left;
  private boolean sound;

  /// Of no message yet.
  public MessageReader() {}

  /// Begins a message, valid while it is.
  public void begin(MemorySegment received) {
    message = received;
    end = received.byteSize();
    sound = end >= MessageWriter.HEADER_BYTES && received.get(JAVA_BYTE, 1) == 0;
    left = sound ? received.get(JAVA_SHORT_UNALIGNED, 2) & 0xffff : 0;
    sound &= left > 0;
    at = MessageWriter.HEADER_BYTES;
  }

  /// Whether all that was read so far was there, and what it should be.
  public boolean isSound() {
    return sound;
  }

  /// What was read cannot be.
  public void distrust() {
    sound = false;
  }

  /// The next item's type, 0 to 255; `END` behind the last, which is sound if nothing follows.
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

  /// One byte, 0 to 255.
  ///
  /// Hot path.
  public int one() {
    return has(1) ? message.get(JAVA_BYTE, at++) & 0xff : 0;
  }

  /// Four bytes.
  ///
  /// Hot path.
  public int number() {
    if (!has(4)) {
      return 0;
    }
    at += 4;
    return message.get(JAVA_INT_UNALIGNED, at - 4);
  }

  /// Eight bytes.
  ///
  /// Hot path.
  public long longNumber() {
    if (!has(8)) {
      return 0;
    }
    at += 8;
    return message.get(JAVA_LONG_UNALIGNED, at - 8);
  }

  /// A region of the peer.
  public RemoteRegion region() {
    return new RemoteRegion(longNumber(), longNumber(), number(), longNumber());
  }

  /// The next bytes, valid while the message is.
  public MemorySegment bytes(long count) {
    if (!has(count)) {
      return MemorySegment.NULL;
    }
    at += count;
    return message.asSlice(at - count, count);
  }

  /// A text, made printable, of at most so many bytes, behind their number in 2 bytes.
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
