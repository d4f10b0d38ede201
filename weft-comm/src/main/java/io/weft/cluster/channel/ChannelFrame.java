// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.channel;

import io.weft.cluster.ServiceIds;
import io.weft.cluster.item.MessageReader;
import io.weft.cluster.item.MessageWriter;
import io.weft.transport.Capabilities;
import io.weft.transport.RemoteRegion;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/// The items of a message of the channel (docs/protocol/channel.md). Pure.
sealed interface ChannelFrame {

  /// Length of the part before the items, in bytes.
  int HEADER_BYTES = MessageWriter.HEADER_BYTES;

  /// Maximum size of a request without its head and without an inline payload, in bytes.
  int REQUEST_BYTES = 1 + 4 + 1 + 4 + 8 + 1 + 2 * RemoteRegion.WIRE_BYTES;

  /// Returns the length of the longest payload that travels in a message, in bytes.
  ///
  /// @param limit the wanted length; empty for that of the transport
  static int eagerBytes(OptionalInt limit, Capabilities transport) {
    int room = transport.maxMessageBytes() - HEADER_BYTES - REQUEST_BYTES;
    return Math.min(limit.orElse(transport.eagerBytes()), room - RequestChannel.MAX_HEAD_BYTES);
  }

  /// A request.
  ///
  /// @param kind the kind of the handler, in one byte
  /// @param payloadBytes length of the payload, inline or not
  /// @param from the region from which the payload is read; null if it follows the head
  /// @param into the region into which the peer may write a part of the reply; null = none
  /// @param body the head, followed by the payload if it is inline
  record Asked(
      int token,
      int kind,
      int headBytes,
      long payloadBytes,
      @Nullable RemoteRegion from,
      @Nullable RemoteRegion into,
      MemorySegment body)
      implements ChannelFrame {}

  /// A reply. The sender has already written `written` bytes into the requester's region.
  record Answered(int token, long written, MemorySegment body) implements ChannelFrame {}

  /// The request failed; there will be no reply.
  record Refused(int token, String why) implements ChannelFrame {}

  /// The requester withdraws its request.
  record Withdrawn(int token) implements ChannelFrame {}

  /// A writer of messages of the channel.
  final class Writer {

    private final MessageWriter message;

    Writer(MemorySegment memory) {
      this(new MessageWriter(ServiceIds.CHANNEL, memory));
    }

    Writer(MessageWriter message) {
      this.message = message;
    }

    void begin() {
      message.begin();
    }

    int items() {
      return message.items();
    }

    /// Returns the message with its current items.
    MemorySegment end() {
      return message.end();
    }

    /// Returns false, without writing anything, if the item does not fit.
    boolean write(ChannelFrame frame) {
      return switch (frame) {
        case Asked asked -> asked(asked);
        case Answered answered -> answered(answered);
        case Refused refused -> refused(refused);
        case Withdrawn withdrawn -> {
          if (!message.open(4, 4)) {
            yield false;
          }
          message.put(withdrawn.token);
          yield true;
        }
      };
    }

    private boolean asked(Asked asked) {
      RemoteRegion from = asked.from;
      RemoteRegion into = asked.into;
      long regions = (from == null ? 0L : 1L) + (into == null ? 0L : 1L);
      long bytes = 18 + regions * RemoteRegion.WIRE_BYTES + asked.body.byteSize();
      if (!message.open(1, bytes)) {
        return false;
      }
      message.put(asked.token);
      message.put((byte) asked.kind);
      message.put(asked.headBytes);
      message.put(asked.payloadBytes);
      message.put((byte) ((from == null ? 0 : 1) | (into == null ? 0 : 2)));
      if (from != null) {
        message.put(from);
      }
      if (into != null) {
        message.put(into);
      }
      message.put(asked.body);
      return true;
    }

    private boolean answered(Answered answered) {
      if (!message.open(2, 16 + answered.body.byteSize())) {
        return false;
      }
      message.put(answered.token);
      message.put(answered.written);
      message.put((int) answered.body.byteSize());
      message.put(answered.body);
      return true;
    }

    private boolean refused(Refused refused) {
      byte[] text = refused.why.getBytes(StandardCharsets.UTF_8);
      int length = Math.min(text.length, RequestChannel.MAX_HEAD_BYTES);
      if (!message.open(3, 6L + length)) {
        return false;
      }
      message.put(refused.token);
      message.text(text, length);
      return true;
    }
  }

  /// A reader of a peer's message, whose content is not trusted.
  final class Reader {

    private final MessageReader in = new MessageReader();

    void begin(MemorySegment from) {
      in.begin(from);
    }

    /// Returns whether everything that was read was well-formed.
    boolean isSound() {
      return in.isSound();
    }

    /// Returns the next item; null after the last one or if the message is malformed.
    @Nullable ChannelFrame next() {
      ChannelFrame frame =
          switch (in.next()) {
            case MessageReader.END -> null;
            case 1 -> asked();
            case 2 -> new Answered(in.number(), in.longNumber(), in.bytes(in.number()));
            case 3 -> new Refused(in.number(), in.text(RequestChannel.MAX_HEAD_BYTES));
            case 4 -> new Withdrawn(in.number());
            default -> {
              in.distrust();
              yield null;
            }
          };
      return in.isSound() ? frame : null;
    }

    private Asked asked() {
      int token = in.number();
      int kind = in.one();
      int headBytes = in.number();
      long payloadBytes = in.longNumber();
      int flags = in.one();
      RemoteRegion from = (flags & 1) == 0 ? null : in.region();
      RemoteRegion into = (flags & 2) == 0 ? null : in.region();
      if (flags > 3
          || headBytes < 0
          || headBytes > RequestChannel.MAX_HEAD_BYTES
          || payloadBytes < 0
          || (from != null && (payloadBytes == 0 || from.bytes() != payloadBytes))
          || (into != null && into.bytes() <= 0)) {
        in.distrust();
      }
      long inline = from == null ? payloadBytes : 0;
      MemorySegment body = in.bytes(in.isSound() ? headBytes + inline : 0);
      return new Asked(token, kind, headBytes, payloadBytes, from, into, body);
    }
  }
}
