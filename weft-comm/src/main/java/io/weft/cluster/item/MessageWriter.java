// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.item;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.weft.transport.RemoteRegion;
import java.lang.foreign.MemorySegment;

/// A writer of messages of items in one reused buffer: the service's id, 0, the number of items in
/// 2 bytes, then the items, each preceded by its type in one byte. Little-endian, unaligned. An
/// item that does not fit is not written at all.
public final class MessageWriter {

  /// Bytes before the first item.
  public static final int HEADER_BYTES = 4;

  /// Maximum number of items of one message.
  public static final int MAX_ITEMS = 0xffff;

  private final byte service;
  private final MemorySegment message;
  private long at;
  private int items;

  /// Creates a writer for messages of this service, in memory of the maximum message length.
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

  /// Number of items in the message.
  public int items() {
    return items;
  }

  /// Returns the message, valid until the next `begin`.
  ///
  /// Hot path.
  public MemorySegment end() {
    message.set(JAVA_BYTE, 0, service);
    message.set(JAVA_BYTE, 1, (byte) 0);
    message.set(JAVA_SHORT_UNALIGNED, 2, (short) items);
    return message.asSlice(0, at);
  }

  /// Returns whether an item with this number of bytes after its type fits.
  ///
  /// Hot path.
  public boolean hasRoom(long bytes) {
    return items < MAX_ITEMS && bytes < message.byteSize() - at;
  }

  /// Begins an item with this number of bytes after its type. Returns false, without writing
  /// anything, if it does not fit.
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

  /// Copies data to this offset after the type of the next item, which must fit. If reading the
  /// data throws, the message is unchanged.
  ///
  /// Hot path.
  public void copyAhead(long offset, MemorySegment data, long bytes) {
    MemorySegment.copy(data, 0, message, at + 1 + offset, bytes);
  }

  /// Skips bytes of the item that are already written.
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

  /// Writes a region, in `RemoteRegion.WIRE_BYTES` bytes.
  public void put(RemoteRegion region) {
    put(region.address());
    put(region.bytes());
    put(region.key());
    put(region.incarnation());
  }

  /// Writes all bytes of the segment.
  public void put(MemorySegment bytes) {
    MemorySegment.copy(bytes, 0, message, at, bytes.byteSize());
    at += bytes.byteSize();
  }

  /// Writes the first `length` bytes of a UTF-8 text, preceded by the length in 2 bytes.
  public void text(byte[] text, int length) {
    message.set(JAVA_SHORT_UNALIGNED, at, (short) length);
    at += 2;
    MemorySegment.copy(text, 0, message, JAVA_BYTE, at, length);
    at += length;
  }
}
