// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous.frame;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.weft.transport.RemoteRegion;
import java.lang.foreign.MemorySegment;
import java.util.List;

/// Composes one message of items in memory that is used again for the next. An item that does not
/// fit leaves nothing. Little-endian, unaligned.
public final class ItemWriter {

  /// Number of the rendezvous on the mesh.
  public static final byte SERVICE = 2;

  /// Bytes before the first item.
  public static final int HEADER_BYTES = 4;

  /// Most items of one message.
  static final int MAX_ITEMS = 0xffff;

  /// Most bytes of a text.
  static final int MAX_TEXT_BYTES = 1024;

  private final MemorySegment message;
  private long at;
  private int items;

  /// Over this memory, as long as the longest message.
  public ItemWriter(MemorySegment message) {
    this.message = message;
  }

  /// Begins a message.
  public void begin() {
    message.set(JAVA_BYTE, 0, SERVICE);
    message.set(JAVA_BYTE, 1, (byte) 0);
    at = HEADER_BYTES;
    items = 0;
  }

  /// How many items it has.
  public int items() {
    return items;
  }

  /// The message, until the next `begin`.
  public MemorySegment end() {
    message.set(JAVA_SHORT_UNALIGNED, 2, (short) items);
    return message.asSlice(0, at);
  }

  /// What may follow a header that many bytes long still fits.
  private boolean open(ItemType type, long bytes) {
    if (!hasRoom(bytes)) {
      return false;
    }
    items++;
    message.set(JAVA_BYTE, at++, (byte) type.code());
    return true;
  }

  private boolean hasRoom(long bytes) {
    return items < MAX_ITEMS && bytes + 1 <= message.byteSize() - at;
  }

  public boolean edge(int number, long incarnation, byte[] name) {
    if (!open(ItemType.EDGE, 14L + name.length)) {
      return false;
    }
    put(number);
    put(incarnation);
    text(name, name.length);
    return true;
  }

  public boolean request(int id, int edge, long step, long frame, long iteration, boolean writes) {
    if (!open(ItemType.REQUEST, 33)) {
      return false;
    }
    key(id, edge, step, frame, iteration);
    put((byte) (writes ? 1 : 0));
    return true;
  }

  public boolean requestInto(
      int id,
      int edge,
      long step,
      long frame,
      long iteration,
      TensorSignature signature,
      RemoteRegion region) {
    if (!open(ItemType.REQUEST_INTO, 32L + signature.wireBytes() + RemoteRegion.WIRE_BYTES)) {
      return false;
    }
    key(id, edge, step, frame, iteration);
    put(signature);
    put(region);
    return true;
  }

  public boolean destination(int token, int id, TensorSignature signature, RemoteRegion region) {
    return placed(ItemType.DESTINATION, token, id, signature, region);
  }

  public boolean release(int token) {
    if (!open(ItemType.RELEASE, 4)) {
      return false;
    }
    put(token);
    return true;
  }

  /// @param id of one request, or -1 for all of the step
  public boolean cancel(int id, long step) {
    if (!open(ItemType.CANCEL, 12)) {
      return false;
    }
    put(id);
    put(step);
    return true;
  }

  /// Where the data cannot be read, what that throws, and the message is as it was.
  public boolean inline(int id, TensorSignature signature, MemorySegment data) {
    long header = 4L + signature.wireBytes();
    if (!hasRoom(header + signature.bytes())) {
      return false;
    }
    MemorySegment.copy(data, 0, message, at + 1 + header, signature.bytes());
    boolean unused = open(ItemType.INLINE, header + signature.bytes());
    put(id);
    put(signature);
    at += signature.bytes();
    return true;
  }

  public boolean meta(int id, int token, TensorSignature signature, RemoteRegion region) {
    return placed(ItemType.META, id, token, signature, region);
  }

  private boolean placed(
      ItemType type, int first, int second, TensorSignature signature, RemoteRegion region) {
    if (!open(type, 8L + signature.wireBytes() + RemoteRegion.WIRE_BYTES)) {
      return false;
    }
    put(first);
    put(second);
    put(signature);
    put(region);
    return true;
  }

  public boolean shape(int id, int token, TensorSignature signature) {
    if (!open(ItemType.SHAPE, 8L + signature.wireBytes())) {
      return false;
    }
    put(id);
    put(token);
    put(signature);
    return true;
  }

  public boolean dead(int id) {
    if (!open(ItemType.DEAD, 4)) {
      return false;
    }
    put(id);
    return true;
  }

  /// The text is cut to what a message may have.
  public boolean failed(int id, byte[] why) {
    int length = Math.min(why.length, MAX_TEXT_BYTES);
    if (!open(ItemType.FAILED, 6L + length)) {
      return false;
    }
    put(id);
    text(why, length);
    return true;
  }

  private void key(int id, int edge, long step, long frame, long iteration) {
    put(id);
    put(edge);
    put(step);
    put(frame);
    put(iteration);
  }

  private void text(byte[] text, int length) {
    message.set(JAVA_SHORT_UNALIGNED, at, (short) length);
    at += 2;
    MemorySegment.copy(text, 0, message, JAVA_BYTE, at, length);
    at += length;
  }

  private void put(TensorSignature signature) {
    List<Long> dims = signature.shape().dims();
    put((byte) TensorSignature.code(signature.dtype()));
    put((byte) dims.size());
    for (int i = 0; i < dims.size(); i++) {
      put((long) dims.get(i));
    }
  }

  private void put(RemoteRegion region) {
    put(region.address());
    put(region.bytes());
    put(region.key());
    put(region.incarnation());
  }

  private void put(byte value) {
    message.set(JAVA_BYTE, at++, value);
  }

  private void put(int value) {
    message.set(JAVA_INT_UNALIGNED, at, value);
    at += 4;
  }

  private void put(long value) {
    message.set(JAVA_LONG_UNALIGNED, at, value);
    at += 8;
  }
}
