// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.item;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.weft.transport.RemoteRegion;
import java.lang.foreign.MemorySegment;

/// Composes a message of items in memory that is used again for the next: the service's id, 0, the
/// number of items in 2 bytes, then the items, each beginning with its type in one byte.
/// Little-endian, unaligned. An item that does not fit leaves nothing.
public final class MessageWriter {

  /// Bytes before the first item.
  public static final int HEADER_BYTES = 4;

  /// Most items of one message.
  public static final int MAX_ITEMS = 0xffff;

  private final byte service;
  private final MemorySegment message;
  private long at;
  private int items;

  /// Messages of this service, in memory as long as the longest.
  public MessageWriter(byte service, MemorySegment message) {
    this.service = service;
    this.message = message;
  }

  /// Begins a message.
  ///
  /// Hot path.
  public void begin() {
    at = HEADER_BYTES;
    items = 0;
  }

  /// How many items it has.
  public int items() {
    return items;
  }

  /// The message, until the next `begin`.
  ///
  /// Hot path.
  public MemorySegment end() {
    message.set(JAVA_BYTE, 0, service);
    message.set(JAVA_BYTE, 1, (byte) 0);
    message.set(JAVA_SHORT_UNALIGNED, 2, (short) items);
    return message.asSlice(0, at);
  }

  /// Whether an item with so many bytes behind its type still fits.
  ///
  /// Hot path.
  public boolean hasRoom(long bytes) {
    return items < MAX_ITEMS && bytes < message.byteSize() - at;
  }

  /// Begins an item with so many bytes behind its type; false, and nothing is written, where it
  /// does not fit.
  ///
  /// Hot path.
  public boolean open(int type, long bytes) {
    if (!hasRoom(bytes)) {
      return false;
    }
    items++;
    message.set(JAVA_BYTE, at++, (byte) type);
    return true;
  }

  /// Copies what is to stand so far behind the type of the next item, for which there is room. What
  /// the memory throws leaves the message as it was.
  ///
  /// Hot path.
  public void copyAhead(long offset, MemorySegment data, long bytes) {
    MemorySegment.copy(data, 0, message, at + 1 + offset, bytes);
  }

  /// So many bytes of the item are there already.
  public void skip(long bytes) {
    at += bytes;
  }

  /// Hot path.
  public void put(byte value) {
    message.set(JAVA_BYTE, at++, value);
  }

  /// Hot path.
  public void put(int value) {
    message.set(JAVA_INT_UNALIGNED, at, value);
    at += 4;
  }

  /// Hot path.
  public void put(long value) {
    message.set(JAVA_LONG_UNALIGNED, at, value);
    at += 8;
  }

  /// In `RemoteRegion.WIRE_BYTES`.
  public void put(RemoteRegion region) {
    put(region.address());
    put(region.bytes());
    put(region.key());
    put(region.incarnation());
  }

  /// All of it.
  public void put(MemorySegment bytes) {
    MemorySegment.copy(bytes, 0, message, at, bytes.byteSize());
    at += bytes.byteSize();
  }

  /// The first `length` bytes of a text in UTF-8, behind their number in 2 bytes.
  public void text(byte[] text, int length) {
    message.set(JAVA_SHORT_UNALIGNED, at, (short) length);
    at += 2;
    MemorySegment.copy(text, 0, message, JAVA_BYTE, at, length);
    at += length;
  }
}
