// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.channel;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.weft.transport.RemoteRegion;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// The items of a message of the channel (docs/protocol/channel.md). Pure.
sealed interface ChannelFrame {

  /// Id of the service, the first byte of every message.
  byte SERVICE = 3;

  /// Bytes before the items.
  int HEADER_BYTES = 4;

  /// Bytes of a request besides its head and a payload in the message, at most.
  int REQUEST_BYTES = 1 + 4 + 4 + 8 + 1 + 2 * RemoteRegion.WIRE_BYTES;

  /// Somebody asks.
  ///
  /// @param payloadBytes of the payload, wherever it lies
  /// @param from where it is read; null where it follows the head
  /// @param into where a reply may be written; null = nowhere
  /// @param body the head, and the payload if it is not read
  record Asked(
      int token,
      int headBytes,
      long payloadBytes,
      @Nullable RemoteRegion from,
      @Nullable RemoteRegion into,
      MemorySegment body)
      implements ChannelFrame {}

  /// The answer; as many bytes were written before.
  record Answered(int token, long written, MemorySegment body) implements ChannelFrame {}

  /// There will be no answer.
  record Refused(int token, String why) implements ChannelFrame {}

  /// Who asked does not want it any more.
  record Withdrawn(int token) implements ChannelFrame {}

  /// Composes a message in memory that is used again.
  final class Writer {

    private final MemorySegment message;
    private long at;
    private int items;

    Writer(MemorySegment message) {
      this.message = message;
    }

    void begin() {
      at = HEADER_BYTES;
      items = 0;
    }

    int items() {
      return items;
    }

    /// The message so far.
    MemorySegment end() {
      message.set(JAVA_BYTE, 0, SERVICE);
      message.set(JAVA_BYTE, 1, (byte) 0);
      message.set(JAVA_SHORT_UNALIGNED, 2, (short) items);
      return message.asSlice(0, at);
    }

    /// False, and nothing is written, where there is no room.
    boolean write(ChannelFrame frame) {
      long begin = at;
      boolean fits =
          switch (frame) {
            case Asked asked -> asked(asked);
            case Answered answered ->
                room(17 + answered.body.byteSize())
                    && code(2)
                    && number(answered.token)
                    && longNumber(answered.written)
                    && number((int) answered.body.byteSize())
                    && bytes(answered.body);
            case Refused refused -> {
              byte[] text = refused.why.getBytes(StandardCharsets.UTF_8);
              text = Arrays.copyOf(text, Math.min(text.length, RequestChannel.MAX_HEAD_BYTES));
              yield room(9 + text.length)
                  && code(3)
                  && number(refused.token)
                  && number(text.length)
                  && bytes(MemorySegment.ofArray(text));
            }
            case Withdrawn withdrawn -> room(5) && code(4) && number(withdrawn.token);
          };
      if (fits) {
        items++;
      } else {
        at = begin;
      }
      return fits;
    }

    private boolean asked(Asked asked) {
      RemoteRegion from = asked.from;
      RemoteRegion into = asked.into;
      return room(REQUEST_BYTES + asked.body.byteSize())
          && code(1)
          && number(asked.token)
          && number(asked.headBytes)
          && longNumber(asked.payloadBytes)
          && code((from == null ? 0 : 1) | (into == null ? 0 : 2))
          && (from == null || region(from))
          && (into == null || region(into))
          && bytes(asked.body);
    }

    private boolean room(long bytes) {
      return items < Short.MAX_VALUE && message.byteSize() - at >= bytes;
    }

    private boolean code(int value) {
      message.set(JAVA_BYTE, at++, (byte) value);
      return true;
    }

    private boolean number(int value) {
      message.set(JAVA_INT_UNALIGNED, at, value);
      at += 4;
      return true;
    }

    private boolean longNumber(long value) {
      message.set(JAVA_LONG_UNALIGNED, at, value);
      at += 8;
      return true;
    }

    private boolean region(RemoteRegion region) {
      return longNumber(region.address())
          && longNumber(region.bytes())
          && number(region.key())
          && longNumber(region.incarnation());
    }

    private boolean bytes(MemorySegment from) {
      MemorySegment.copy(from, 0, message, at, from.byteSize());
      at += from.byteSize();
      return true;
    }
  }

  /// Takes a message of a peer apart; nothing in it is trusted.
  final class Reader {

    private MemorySegment message = MemorySegment.NULL;
    private long at;
    private int left;
    private boolean sound;

    void begin(MemorySegment from) {
      message = from;
      at = HEADER_BYTES;
      sound = from.byteSize() >= HEADER_BYTES && from.get(JAVA_BYTE, 1) == 0;
      left = sound ? from.get(JAVA_SHORT_UNALIGNED, 2) : 0;
      sound &= left > 0;
    }

    /// Whether all that was read could be.
    boolean isSound() {
      return sound;
    }

    /// The next item; null after the last one, and where the message is not sound.
    @Nullable ChannelFrame next() {
      if (!sound || left == 0) {
        sound &= at == message.byteSize();
        return null;
      }
      left--;
      ChannelFrame frame =
          switch (code()) {
            case 1 -> asked();
            case 2 -> new Answered(number(), longNumber(), bytes(number()));
            case 3 -> new Refused(number(), text(number()));
            case 4 -> new Withdrawn(number());
            default -> null;
          };
      sound &= frame != null;
      return sound ? frame : null;
    }

    private Asked asked() {
      int token = number();
      int headBytes = number();
      long payloadBytes = longNumber();
      int flags = code();
      RemoteRegion from = (flags & 1) == 0 ? null : region();
      RemoteRegion into = (flags & 2) == 0 ? null : region();
      sound &= flags >= 0 && flags <= 3;
      sound &= headBytes >= 0 && headBytes <= RequestChannel.MAX_HEAD_BYTES && payloadBytes >= 0;
      sound &= from == null || (payloadBytes > 0 && from.bytes() == payloadBytes);
      sound &= into == null || into.bytes() > 0;
      long inline = from == null ? payloadBytes : 0;
      MemorySegment body = bytes(sound ? headBytes + inline : 0);
      return new Asked(token, headBytes, payloadBytes, from, into, body);
    }

    private boolean has(long bytes) {
      sound &= bytes >= 0 && bytes <= message.byteSize() - at;
      return sound;
    }

    private int code() {
      return has(1) ? message.get(JAVA_BYTE, at++) : -1;
    }

    private int number() {
      if (!has(4)) {
        return 0;
      }
      at += 4;
      return message.get(JAVA_INT_UNALIGNED, at - 4);
    }

    private long longNumber() {
      if (!has(8)) {
        return 0;
      }
      at += 8;
      return message.get(JAVA_LONG_UNALIGNED, at - 8);
    }

    private RemoteRegion region() {
      return new RemoteRegion(longNumber(), longNumber(), number(), longNumber());
    }

    private MemorySegment bytes(long count) {
      if (!has(count)) {
        return MemorySegment.NULL;
      }
      at += count;
      return message.asSlice(at - count, count);
    }

    private String text(int count) {
      if (count > RequestChannel.MAX_HEAD_BYTES) {
        sound = false;
      }
      byte[] text = bytes(count).toArray(JAVA_BYTE);
      return new String(text, StandardCharsets.UTF_8).replaceAll("\\p{Cntrl}", "?");
    }
  }
}
