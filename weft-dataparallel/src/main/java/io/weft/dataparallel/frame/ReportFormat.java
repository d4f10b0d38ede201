// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.frame;

import io.weft.dataparallel.frame.Announcement.Expired;
import io.weft.dataparallel.frame.Announcement.Joined;
import io.weft.dataparallel.frame.Announcement.Leaving;
import io.weft.dataparallel.frame.Announcement.Submitted;
import io.weft.dataparallel.frame.Announcement.Withdrawn;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/// The encoding of a `RoundReport`, little-endian: version, last operation, its age, number of
/// announcements, and each announcement as its kind and fields. A text is its length in bytes (16
/// bits) and UTF-8. Every length is checked before memory is allocated for it.
public final class ReportFormat {

  private static final byte VERSION = 3;
  private static final byte SUBMITTED = 1;
  private static final byte EXPIRED = 2;
  private static final byte JOINED = 3;
  private static final byte LEAVING = 4;
  private static final byte WITHDRAWN = 5;

  private static final int MOST_CHARACTERS = 512;
  private static final int MOST_TEXT_BYTES = 4 * MOST_CHARACTERS;
  private static final int MOST_DIMS = 64;

  /// The bytes of root, two factors, priority, number of extents and group size.
  private static final int SIGNATURE_BYTES = 4 + 8 + 8 + 4 + 1 + 4;

  private static final int HEAD_BYTES = 1 + 2 + 8 + 4;

  private ReportFormat() {}

  /// Returns the bytes of a report.
  public static byte[] encode(RoundReport report) {
    ByteBuffer out = buffer(bytes(report));
    out.put(VERSION);
    putText(out, report.lastOperation());
    out.putLong(report.idleMillis()).putInt(report.announcements().size());
    for (Announcement each : report.announcements()) {
      switch (each) {
        case Submitted(String name, TensorSignature signature) -> {
          putText(out.put(SUBMITTED), name);
          putSignature(out, signature);
        }
        case Withdrawn(String name, TensorSignature signature) -> {
          putText(out.put(WITHDRAWN), name);
          putSignature(out, signature);
        }
        case Expired(String name) -> putText(out.put(EXPIRED), name);
        case Joined() -> out.put(JOINED);
        case Leaving() -> out.put(LEAVING);
      }
    }
    byte[] used = new byte[out.position()];
    out.flip().get(used);
    return used;
  }

  /// Returns the report of these bytes. Throws `IllegalArgumentException` with the defect.
  public static RoundReport decode(byte[] bytes) {
    ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    try {
      RoundReport report = report(in);
      if (in.hasRemaining()) {
        throw new IllegalArgumentException(in.remaining() + " bytes behind its end");
      }
      return report;
    } catch (BufferUnderflowException e) {
      throw new IllegalArgumentException("it ends after " + bytes.length + " bytes", e);
    }
  }

  private static RoundReport report(ByteBuffer in) {
    byte version = in.get();
    if (version != VERSION) {
      throw new IllegalArgumentException("version " + version + ", expected " + VERSION);
    }
    String last = text(in);
    long idle = in.getLong();
    int count = in.getInt();
    if (idle < 0 || count < 0 || count > in.remaining()) {
      throw new IllegalArgumentException(
          count + " announcements in " + in.remaining() + " bytes, idle for " + idle + " ms");
    }
    List<Announcement> announcements = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      announcements.add(announcement(in));
    }
    return new RoundReport(last, idle, announcements);
  }

  private static Announcement announcement(ByteBuffer in) {
    byte kind = in.get();
    return switch (kind) {
      case SUBMITTED -> new Submitted(name(in), signature(in));
      case WITHDRAWN -> new Withdrawn(name(in), signature(in));
      case EXPIRED -> new Expired(name(in));
      case JOINED -> new Joined();
      case LEAVING -> new Leaving();
      default -> throw new IllegalArgumentException("an announcement of kind " + kind);
    };
  }

  private static String name(ByteBuffer in) {
    String name = text(in);
    if (name.isEmpty()) {
      throw new IllegalArgumentException("a tensor without a name");
    }
    return name;
  }

  private static void putSignature(ByteBuffer out, TensorSignature signature) {
    putText(out, signature.collective().name());
    out.putInt(signature.root());
    putText(out, signature.dtype().name());
    putText(out, signature.op().name());
    out.putDouble(signature.scaling().prescale()).putDouble(signature.scaling().postscale());
    out.putInt(signature.priority());
    out.put((byte) signature.shape().dims().size());
    signature.shape().dims().forEach(out::putLong);
    putText(out, signature.group().name());
    out.putInt(signature.group().size());
  }

  private static TensorSignature signature(ByteBuffer in) {
    Collective collective = one(Collective.values(), text(in), "collective");
    int root = in.getInt();
    if (root < 0) {
      throw new IllegalArgumentException("root " + root);
    }
    DType dtype = one(DType.values(), text(in), "element type");
    ReduceOp op = one(ReduceOp.values(), text(in), "reduction");
    double prescale = in.getDouble();
    double postscale = in.getDouble();
    int priority = in.getInt();
    int dims = in.get();
    if (dims < 0 || dims > MOST_DIMS) {
      throw new IllegalArgumentException(dims + " dimensions, at most " + MOST_DIMS);
    }
    long[] extents = new long[dims];
    for (int d = 0; d < dims; d++) {
      extents[d] = in.getLong();
    }
    Shape shape = Shape.of(extents);
    String group = text(in);
    int groupSize = in.getInt();
    if (groupSize < 0 || group.isEmpty() != (groupSize == 0)) {
      throw new IllegalArgumentException("group '" + group + "' of " + groupSize + " tensors");
    }
    var signature =
        new TensorSignature(
            collective,
            root,
            dtype,
            shape,
            op,
            new TensorSignature.Scaling(prescale, postscale),
            priority,
            new TensorSignature.Group(group, groupSize));
    var unused = signature.bytes(); // throws for a length that overflows
    return signature;
  }

  private static <E extends Enum<E>> E one(E[] values, String name, String what) {
    for (E value : values) {
      if (value.name().equals(name)) {
        return value;
      }
    }
    throw new IllegalArgumentException("no " + what + " '" + name + "'");
  }

  private static void putText(ByteBuffer out, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    out.putShort((short) bytes.length).put(bytes);
  }

  private static String text(ByteBuffer in) {
    int length = Short.toUnsignedInt(in.getShort());
    if (length > MOST_TEXT_BYTES || length > in.remaining()) {
      throw new IllegalArgumentException(
          "a text of " + length + " bytes where " + in.remaining() + " are left");
    }
    ByteBuffer bytes = in.slice(in.position(), length);
    in.position(in.position() + length);
    try {
      String text = StandardCharsets.UTF_8.newDecoder().decode(bytes).toString();
      if (text.length() > MOST_CHARACTERS) {
        throw new IllegalArgumentException("a text of " + text.length() + " characters");
      }
      return text;
    } catch (CharacterCodingException e) {
      throw new IllegalArgumentException("a text is not UTF-8", e);
    }
  }

  private static ByteBuffer buffer(long bytes) {
    return ByteBuffer.allocate(Math.toIntExact(bytes)).order(ByteOrder.LITTLE_ENDIAN);
  }

  /// Returns an upper bound of the report's length in bytes.
  private static long bytes(RoundReport report) {
    long bytes = HEAD_BYTES + MOST_TEXT_BYTES;
    for (Announcement each : report.announcements()) {
      bytes +=
          switch (each) {
            case Submitted(String name, TensorSignature signature) -> bytes(name, signature);
            case Withdrawn(String name, TensorSignature signature) -> bytes(name, signature);
            case Expired(String name) -> textBytes(name);
            case Joined(), Leaving() -> 1;
          };
    }
    return bytes;
  }

  private static long bytes(String name, TensorSignature signature) {
    return textBytes(name)
        + textBytes(signature.group().name())
        + textBytes(signature.collective().name())
        + textBytes(signature.dtype().name())
        + textBytes(signature.op().name())
        + 8L * signature.shape().dims().size()
        + SIGNATURE_BYTES;
  }

  private static long textBytes(String text) {
    return 3 + 4L * text.length();
  }
}
