// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous.frame;

import io.weft.cluster.ServiceIds;
import io.weft.cluster.item.MessageWriter;
import io.weft.transport.RemoteRegion;
import java.lang.foreign.MemorySegment;
import java.util.List;

/// A writer of the items of a rendezvous message. An item that does not fit is not written at all.
public final class ItemWriter {

  /// Bytes before the first item.
  public static final int HEADER_BYTES = MessageWriter.HEADER_BYTES;

  /// Maximum length of a text, in bytes.
  static final int MAX_TEXT_BYTES = 1024;

  private final MessageWriter message;

  /// Creates a writer over this memory of the maximum message length.
  public ItemWriter(MemorySegment memory) {
    this(new MessageWriter(ServiceIds.RENDEZVOUS, memory));
  }

  /// Creates a writer over this message of the rendezvous.
  public ItemWriter(MessageWriter message) {
    this.message = message;
  }

  /// Begins a message.
  public void begin() {
    message.begin();
  }

  /// Number of items in the message.
  public int items() {
    return message.items();
  }

  /// Returns the message, valid until the next `begin`.
  public MemorySegment end() {
    return message.end();
  }

  private boolean open(ItemType type, long bytes) {
    return message.open(type.code(), bytes);
  }

  public boolean edge(int number, long incarnation, byte[] name) {
    if (!open(ItemType.EDGE, 14L + name.length)) {
      return false;
    }
    message.put(number);
    message.put(incarnation);
    message.text(name, name.length);
    return true;
  }

  public boolean request(int id, int edge, long step, long frame, long iteration, boolean writes) {
    if (!open(ItemType.REQUEST, 33)) {
      return false;
    }
    key(id, edge, step, frame, iteration);
    message.put((byte) (writes ? 1 : 0));
    return true;
  }

  public boolean requestInto(
      int id,
      int edge,
      long step,
      long frame,
      long iteration,
      TensorSpec signature,
      RemoteRegion region) {
    if (!open(ItemType.REQUEST_INTO, 32L + signature.wireBytes() + RemoteRegion.WIRE_BYTES)) {
      return false;
    }
    key(id, edge, step, frame, iteration);
    put(signature);
    message.put(region);
    return true;
  }

  public boolean destination(int token, int id, TensorSpec signature, RemoteRegion region) {
    return placed(ItemType.DESTINATION, token, id, signature, region);
  }

  public boolean release(int token) {
    if (!open(ItemType.RELEASE, 4)) {
      return false;
    }
    message.put(token);
    return true;
  }

  /// @param id the id of one request, or -1 for all of the step
  public boolean cancel(int id, long step) {
    if (!open(ItemType.CANCEL, 12)) {
      return false;
    }
    message.put(id);
    message.put(step);
    return true;
  }

  /// If reading the data throws, the exception is propagated and the message is unchanged.
  public boolean inline(int id, TensorSpec signature, MemorySegment data) {
    long header = 4L + signature.wireBytes();
    if (!message.hasRoom(header + signature.bytes())) {
      return false;
    }
    message.copyAhead(header, data, signature.bytes());
    boolean unused = open(ItemType.INLINE, header + signature.bytes());
    message.put(id);
    put(signature);
    message.skip(signature.bytes());
    return true;
  }

  public boolean meta(int id, int token, TensorSpec signature, RemoteRegion region) {
    return placed(ItemType.META, id, token, signature, region);
  }

  private boolean placed(
      ItemType type, int first, int second, TensorSpec signature, RemoteRegion region) {
    if (!open(type, 8L + signature.wireBytes() + RemoteRegion.WIRE_BYTES)) {
      return false;
    }
    message.put(first);
    message.put(second);
    put(signature);
    message.put(region);
    return true;
  }

  public boolean shape(int id, int token, TensorSpec signature) {
    if (!open(ItemType.SHAPE, 8L + signature.wireBytes())) {
      return false;
    }
    message.put(id);
    message.put(token);
    put(signature);
    return true;
  }

  public boolean dead(int id) {
    if (!open(ItemType.DEAD, 4)) {
      return false;
    }
    message.put(id);
    return true;
  }

  /// The text is cut to the maximum length.
  public boolean failed(int id, byte[] why) {
    int length = Math.min(why.length, MAX_TEXT_BYTES);
    if (!open(ItemType.FAILED, 6L + length)) {
      return false;
    }
    message.put(id);
    message.text(why, length);
    return true;
  }

  private void key(int id, int edge, long step, long frame, long iteration) {
    message.put(id);
    message.put(edge);
    message.put(step);
    message.put(frame);
    message.put(iteration);
  }

  private void put(TensorSpec signature) {
    List<Long> dims = signature.shape().dims();
    message.put((byte) TensorSpec.code(signature.dtype()));
    message.put((byte) dims.size());
    for (int i = 0; i < dims.size(); i++) {
      message.put((long) dims.get(i));
    }
  }
}
