// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.frame;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.weft.cluster.channel.RequestChannel;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;

/// The body of a shard's reply.
///
/// @param status the outcome of the request
/// @param applied the number of clocks that the table has applied, if it is synchronous
/// @param text the reason of a refusal, or the result of a request; empty otherwise
/// @param values of a pull of at most `MOST_VALUE_BYTES`; empty otherwise. Borrowed from the
///   message
public record KvReply(Status status, long applied, String text, MemorySegment values) {

  /// The maximum bytes of values in the reply itself. More values are written to their destination.
  public static final long MOST_VALUE_BYTES = 512;

  /// The value of `applied` in the answer to `WHY` if the push was not taken.
  public static final long NOT_TAKEN = 0;

  /// The value of `applied` in the answer to `WHY` if the push was taken.
  public static final long TAKEN = 1;

  /// The value of `applied` in the answer to `WHY` if this is unknown.
  public static final long NOT_KNOWN = 2;

  private static final int FIXED_BYTES = 12;
  private static final int MAX_TEXT_BYTES = RequestChannel.MAX_HEAD_BYTES - FIXED_BYTES;
  private static final byte[] LEFT_OUT = " ... ".getBytes(StandardCharsets.UTF_8);
  private static final Status[] ALL = Status.values();

  /// The outcome of a request.
  public enum Status {
    /// The request was executed.
    DONE(0),
    /// The shard does not have this list of keys, which must be sent.
    UNKNOWN_LIST(1),
    /// The request was not executed and will not be.
    REFUSED(2),
    /// The request was executed, and the reply contains values.
    VALUES(3),
    /// The request was not executed, because the shard has another replica set, which is the text.
    MOVED(4),
    /// The request was not executed, because the table has ended. The text is the reason.
    ENDED(5);

    private final byte code;

    Status(int code) {
      this.code = (byte) code;
    }
  }

  private KvReply(Status status, long applied, String text) {
    this(status, applied, text, MemorySegment.NULL);
  }

  /// Returns the reply to an executed request.
  public static KvReply done(long applied) {
    return new KvReply(Status.DONE, applied, "");
  }

  /// Returns the reply to an executed request, with values.
  public static KvReply done(long applied, MemorySegment values) {
    return new KvReply(Status.VALUES, applied, "", values);
  }

  /// Returns the reply for a list of keys that the shard does not have.
  public static KvReply unknownList() {
    return new KvReply(Status.UNKNOWN_LIST, 0, "");
  }

  /// Returns the reply to an executed request, with a text.
  public static KvReply done(long applied, String words) {
    return new KvReply(Status.DONE, applied, words);
  }

  /// Returns the reply that redirects to other servers.
  public static KvReply moved(String ring) {
    return new KvReply(Status.MOVED, 0, ring);
  }

  /// Returns the reply for a table that has ended.
  public static KvReply ended(String why) {
    return new KvReply(Status.ENDED, 0, why);
  }

  /// Returns the reply that refuses a request.
  public static KvReply refused(String why) {
    return new KvReply(Status.REFUSED, 0, why);
  }

  /// Returns the encoded reply. The middle of a text that is too long is omitted, because the
  /// operation is at its beginning and the reason is often at its end, after the name of a file.
  public MemorySegment encode() {
    byte[] words =
        status == Status.VALUES ? values.toArray(JAVA_BYTE) : text.getBytes(StandardCharsets.UTF_8);
    if (words.length > MAX_TEXT_BYTES) {
      words = ascii(withoutMiddle(words));
    }
    MemorySegment to = MemorySegment.ofArray(new byte[FIXED_BYTES + words.length]);
    to.set(JAVA_BYTE, 0, status.code);
    to.set(JAVA_LONG_UNALIGNED, 4, applied);
    MemorySegment.copy(words, 0, to, JAVA_BYTE, FIXED_BYTES, words.length);
    return to;
  }

  private static byte[] withoutMiddle(byte[] words) {
    int head = (MAX_TEXT_BYTES - LEFT_OUT.length) / 2;
    int tail = MAX_TEXT_BYTES - LEFT_OUT.length - head;
    return ByteBuffer.allocate(MAX_TEXT_BYTES)
        .put(words, 0, head)
        .put(LEFT_OUT)
        .put(words, words.length - tail, tail)
        .array();
  }

  /// Replaces all non-ASCII bytes, because a character may have been cut in two.
  private static byte[] ascii(byte[] words) {
    for (int i = 0; i < words.length; i++) {
      words[i] = words[i] < 0 ? (byte) '?' : words[i];
    }
    return words;
  }

  /// Returns the status of a body that `encode` has returned.
  ///
  /// Hot path.
  public static Status statusOf(MemorySegment body) {
    return ALL[body.get(JAVA_BYTE, 0)];
  }

  /// Returns the number of bytes of values in a body that `encode` has returned.
  ///
  /// Hot path.
  public static long valueBytes(MemorySegment body) {
    return statusOf(body) == Status.VALUES ? body.byteSize() - FIXED_BYTES : 0;
  }

  /// Parses a reply. Throws `IllegalArgumentException` if it is invalid.
  public static KvReply read(MemorySegment from) {
    long bytes = from.byteSize();
    if (bytes < FIXED_BYTES || bytes > RequestChannel.MAX_HEAD_BYTES) {
      throw new IllegalArgumentException("a reply of " + bytes + " bytes");
    }
    int status = from.get(JAVA_BYTE, 0);
    long applied = from.get(JAVA_LONG_UNALIGNED, 4);
    if (status < 0 || status >= ALL.length || applied < 0) {
      throw new IllegalArgumentException("a reply of status " + status + ", clock " + applied);
    }
    if (ALL[status] == Status.VALUES) {
      return done(applied, from.asSlice(FIXED_BYTES));
    }
    String text = "";
    if (bytes > FIXED_BYTES) {
      try {
        text =
            StandardCharsets.UTF_8
                .newDecoder()
                .onMalformedInput(CodingErrorAction.REPORT)
                .decode(from.asSlice(FIXED_BYTES).asByteBuffer())
                .toString();
      } catch (CharacterCodingException wrong) {
        throw new IllegalArgumentException("a reply whose text is not UTF-8", wrong);
      }
    }
    return new KvReply(ALL[status], applied, text);
  }
}
