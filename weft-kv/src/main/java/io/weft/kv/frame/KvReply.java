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
/// @param status what became of the request
/// @param applied how many clocks the table has applied, where it is synchronous
/// @param text why it was refused, or what was written; empty otherwise
/// @param values of a pull that are no more than `MOST_VALUE_BYTES`; empty otherwise. Borrowed from
///   the message
public record KvReply(Status status, long applied, String text, MemorySegment values) {

  /// Values that are no longer come in the reply itself; longer ones are written to their place.
  public static final long MOST_VALUE_BYTES = 512;

  /// In the place of the clocks, where `WHY` was asked: the push was not taken.
  public static final long NOT_TAKEN = 0;

  /// The push was taken.
  public static final long TAKEN = 1;

  /// It is not known.
  public static final long NOT_KNOWN = 2;

  private static final int FIXED_BYTES = 12;
  private static final int MAX_TEXT_BYTES = RequestChannel.MAX_HEAD_BYTES - FIXED_BYTES;
  private static final byte[] LEFT_OUT = " ... ".getBytes(StandardCharsets.UTF_8);
  private static final Status[] ALL = Status.values();

  /// What became of a request.
  public enum Status {
    /// It is done.
    DONE(0),
    /// The shard does not have this list of keys: send it.
    UNKNOWN_LIST(1),
    /// It was not done, and will not be.
    REFUSED(2),
    /// It is done, and values come behind.
    VALUES(3),
    /// It was not done: the shard has another ring of servers, which is the text.
    MOVED(4),
    /// It was not done: the table has ended, and the text tells why.
    ENDED(5);

    private final byte code;

    Status(int code) {
      this.code = (byte) code;
    }
  }

  private KvReply(Status status, long applied, String text) {
    this(status, applied, text, MemorySegment.NULL);
  }

  /// It is done.
  public static KvReply done(long applied) {
    return new KvReply(Status.DONE, applied, "");
  }

  /// It is done, and these are the values that were asked for.
  public static KvReply done(long applied, MemorySegment values) {
    return new KvReply(Status.VALUES, applied, "", values);
  }

  /// The list of keys is not kept.
  public static KvReply unknownList() {
    return new KvReply(Status.UNKNOWN_LIST, 0, "");
  }

  /// It is done, with something to say.
  public static KvReply done(long applied, String words) {
    return new KvReply(Status.DONE, applied, words);
  }

  /// Other servers have the shard.
  public static KvReply moved(String ring) {
    return new KvReply(Status.MOVED, 0, ring);
  }

  /// The table has ended.
  public static KvReply ended(String why) {
    return new KvReply(Status.ENDED, 0, why);
  }

  /// It was refused.
  public static KvReply refused(String why) {
    return new KvReply(Status.REFUSED, 0, why);
  }

  /// Itself; of a text that is too long the middle is left out: what failed stands at its
  /// beginning, why often at its end, behind the name of a file.
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

  /// A character that was cut in two must not be there.
  private static byte[] ascii(byte[] words) {
    for (int i = 0; i < words.length; i++) {
      words[i] = words[i] < 0 ? (byte) '?' : words[i];
    }
    return words;
  }

  /// Reads one. Throws `IllegalArgumentException` with what is wrong.
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
        throw new IllegalArgumentException("a reply whose text is no UTF-8", wrong);
      }
    }
    return new KvReply(ALL[status], applied, text);
  }
}
