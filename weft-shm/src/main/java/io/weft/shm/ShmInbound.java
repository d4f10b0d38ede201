// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import io.weft.transport.region.LocalRegion;
import io.weft.transport.region.RegionTable;
import io.weft.transport.ring.MessageBuffer;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Receives a peer's frames from the local ring and executes them. It checks every value of the
/// peer before use; a protocol violation causes a `ShmFault`.
final class ShmInbound {

  /// The receiver of frames.
  interface RingListener {
    /// Returns false to stop receiving.
    boolean isOpen();

    void message(MemorySegment message);

    void notified(int immediate);

    /// Returns an operation for a read that the peer requests; the caller fills it in.
    ShmOperation readWanted() throws ShmFault;

    void readDone(ShmOperation read);

    void readRefused(ShmOperation read, int reason);

    void extentGone(int number);
  }

  private static final int FRAMES_PER_CYCLE = 1024;

  private final RingReader ring;
  private final RegionTable table;
  private final OpQueue waiting;
  private final MessageBuffer messages;
  private final int maxMessageBytes;
  private final RingListener listener;
  // The target of the rest of a long payload: a local region that is being written, the first
  // waiting read, or none.
  private long remaining;
  private @Nullable LocalRegion into;
  private @Nullable ShmOperation read;
  private long offset;
  private int immediate;
  private long bytes;

  ShmInbound(
      RingReader ring,
      RegionTable table,
      OpQueue waiting,
      MessageBuffer messages,
      RingListener listener) {
    this.ring = ring;
    this.table = table;
    this.waiting = waiting;
    this.messages = messages;
    this.maxMessageBytes = messages.maxBytes();
    this.listener = listener;
  }

  /// Returns the total received bytes, including those that the peer has written outside the ring.
  long bytes() {
    return bytes + ring.progress();
  }

  /// Receives the arrived frames; returns their count.
  ///
  /// Hot path.
  int receive() throws ShmFault {
    if (!ring.look()) {
      return 0;
    }
    int frames = 0;
    while (frames < FRAMES_PER_CYCLE && !ring.isEmpty() && listener.isOpen()) {
      frame();
      frames++;
    }
    ring.publish();
    return frames;
  }

  private void frame() throws ShmFault {
    int kind = ring.readInt(ShmFrame.KIND);
    int argument = ring.readInt(ShmFrame.IMMEDIATE);
    int key = ring.readInt(ShmFrame.KEY);
    int context = ring.readInt(ShmFrame.CONTEXT);
    long at = ring.readLong(ShmFrame.OFFSET);
    long length = ring.readLong(ShmFrame.LENGTH);
    if (remaining > 0
        && kind != ShmFrame.STAGED
        && kind != ShmFrame.READ_REFUSED
        && kind != ShmFrame.WITHDRAWN) {
      throw new ShmFault("a frame of kind " + kind + " inside of a payload");
    }
    if (remaining > 0 && kind == ShmFrame.READ_REFUSED && read == null) {
      throw new ShmFault("the refusal of a read inside the payload of a write");
    }
    bytes += ShmFrame.BYTES;
    switch (kind) {
      case ShmFrame.MESSAGE -> message(length);
      case ShmFrame.NOTIFY -> {
        ring.skip(0);
        landed(find(key), argument);
      }
      case ShmFrame.WRITE -> write(key, argument, at, length);
      case ShmFrame.READ -> readWanted(argument, key, context, at, length);
      case ShmFrame.READ_DATA -> readData(context, length);
      case ShmFrame.READ_LANDED -> {
        ring.skip(0);
        listener.readDone(answered(context, length));
      }
      case ShmFrame.READ_REFUSED -> {
        ring.skip(0);
        remaining = 0;
        read = null;
        ShmOperation refused = first(context);
        listener.readRefused(refused, argument);
      }
      case ShmFrame.STAGED -> staged(length);
      case ShmFrame.WITHDRAWN -> withdrawn();
      case ShmFrame.GONE -> {
        ring.skip(0);
        listener.extentGone(key);
      }
      default -> throw new ShmFault("a frame of unknown kind " + kind);
    }
  }

  private void message(long length) throws ShmFault {
    if (length < 0 || length > maxMessageBytes || !ring.holds((int) length)) {
      throw new ShmFault(
          "a message of " + length + " bytes; at most " + maxMessageBytes + " are allowed");
    }
    int size = (int) length;
    MemorySegment message = ring.message(messages, size);
    ring.skip(size);
    bytes += size;
    listener.message(message);
  }

  /// Returns the open region with this key, or null if it has been closed.
  private @Nullable LocalRegion find(int key) throws ShmFault {
    LocalRegion region = table.find(key);
    if (region == null && !table.wasOpen(key)) {
      throw new ShmFault(
          "a write to region " + Integer.toHexString(key) + ", which was never open here");
    }
    return region;
  }

  private void landed(@Nullable LocalRegion region, int value) {
    if (region != null) {
      listener.notified(value);
    }
  }

  private void write(int key, int value, long at, long length) throws ShmFault {
    LocalRegion region = find(key);
    if (length < 0 || (region != null && !region.takes(at, length))) {
      throw new ShmFault("a write of " + length + " bytes at " + at + ", outside " + region);
    }
    into = region;
    read = null;
    offset = at;
    immediate = value;
    begin(length);
  }

  private void readWanted(int receiveBuffer, int key, int context, long at, long length)
      throws ShmFault {
    if (!ring.holds(Long.BYTES)) {
      throw new ShmFault("a read without a target");
    }
    long receiveBufferOffset = ring.word();
    ring.skip(Long.BYTES);
    ShmOperation asked = listener.readWanted();
    asked.key = key;
    asked.context = context;
    asked.remoteOffset = at;
    asked.bytes = length;
    asked.immediate = receiveBuffer;
    asked.offset = receiveBufferOffset;
  }

  /// Returns the read that an answer of this length belongs to.
  private ShmOperation answered(int context, long length) throws ShmFault {
    ShmOperation posted = first(context);
    if (length != posted.bytes) {
      throw new ShmFault(
          "an answer of " + length + " bytes to a read of " + posted.bytes + " bytes");
    }
    return posted;
  }

  private void readData(int context, long length) throws ShmFault {
    ShmOperation posted = answered(context, length);
    into = posted.own();
    read = posted;
    offset = posted.offset;
    begin(length);
  }

  /// Returns the read that must be answered next, because answers arrive in the order of the
  /// requests.
  private ShmOperation first(int context) throws ShmFault {
    if (waiting.isEmpty() || waiting.at(waiting.head()).context != context) {
      throw new ShmFault("an answer to a read that is not posted");
    }
    return waiting.at(waiting.head());
  }

  private void begin(long length) throws ShmFault {
    remaining = length;
    if (length > ShmFrame.INLINE_BYTES) {
      ring.skip(0);
      return;
    }
    int size = (int) length;
    if (!ring.holds(size)) {
      throw new ShmFault("a payload of " + size + " bytes beyond the end of the ring");
    }
    LocalRegion target = into;
    if (target != null && target.visit()) {
      try {
        ring.payload(target.segment(), offset, size);
      } catch (IllegalStateException freed) {
        // The arena was closed during the operation, which its owner learns when it is notified.
      } finally {
        target.leave();
      }
    }
    ring.skip(size);
    bytes += size;
    remaining = 0;
    end();
  }

  private void staged(long length) throws ShmFault {
    if (length <= 0 || length > ControlLayout.STAGING_SLOT_BYTES || length > remaining) {
      throw new ShmFault("a staging slot of " + length + " bytes; " + remaining + " are due");
    }
    int size = (int) length;
    LocalRegion target = into;
    if (target != null && target.visit()) {
      try {
        ring.staged(target.segment(), offset, size);
      } catch (IllegalStateException freed) {
        // The arena was closed during the operation, which its owner learns when it is notified.
      } finally {
        target.leave();
      }
    }
    offset += size;
    remaining -= size;
    bytes += size;
    ring.emptySlot();
    ring.skip(0);
    if (remaining == 0) {
      end();
    }
  }

  /// Cancels a write whose memory the sender has lost.
  private void withdrawn() throws ShmFault {
    if (remaining == 0 || read != null) {
      throw new ShmFault("the cancellation of a write that has not begun");
    }
    ring.skip(0);
    remaining = 0;
    into = null;
  }

  /// Completes the operation whose payload has arrived entirely.
  private void end() {
    LocalRegion target = into;
    ShmOperation answered = read;
    into = null;
    read = null;
    if (answered != null) {
      listener.readDone(answered);
    } else if (target != null && table.find(target.key()) != null) {
      listener.notified(immediate);
    }
  }
}
