// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.session;

import io.weft.tensorflow.partition.GraphCall;
import io.weft.tensorflow.session.StepException.Reason;
import io.weft.tensorflow.transfer.ReceiveBatch;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/// The encoding of control messages: the type in one byte, then the fields in order, big-endian. A
/// text is its length in 4 bytes and UTF-8. A list is its length in 4 bytes and its texts. Both
/// sides use one version, because all ranks of a job do.
final class ControlCodec {

  private static final byte HOST = 1;
  private static final byte PREPARE = 2;
  private static final byte RUN = 3;
  private static final byte ABORT = 4;
  private static final byte END = 5;
  private static final byte DROP = 6;
  private static final byte DONE = 7;
  private static final byte FAILED = 8;

  /// The maximum length of a human-readable text; longer texts are truncated.
  private static final int MOST_CHARACTERS = 4096;

  private ControlCodec() {}

  static byte[] encode(ControlMessage message) {
    var bytes = new ByteArrayOutputStream();
    try (var out = new DataOutputStream(bytes)) {
      write(message, out);
    } catch (IOException e) {
      throw new UncheckedIOException("a control message could not be written to memory", e);
    }
    return bytes.toByteArray();
  }

  /// Throws `IllegalArgumentException` for bytes that are not a valid message.
  static ControlMessage decode(byte[] bytes) {
    try (var in = new DataInputStream(new ByteArrayInputStream(bytes))) {
      ControlMessage message = read(in);
      if (in.available() > 0) {
        throw new IllegalArgumentException(in.available() + " bytes too many in a control message");
      }
      return message;
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "a control message of " + bytes.length + " bytes cannot be read", e);
    }
  }

  private static void write(ControlMessage message, DataOutputStream out) throws IOException {
    switch (message) {
      case ControlMessage.Host host -> {
        out.writeByte(HOST);
        out.writeLong(host.ticket());
        out.writeInt(host.session());
        out.writeInt(host.graph().length);
        out.write(host.graph());
      }
      case ControlMessage.Prepare prepare -> {
        out.writeByte(PREPARE);
        out.writeInt(prepare.session());
        out.writeInt(prepare.call());
        texts(prepare.names().feeds(), out);
        texts(prepare.names().fetches(), out);
        texts(prepare.names().targets(), out);
        out.writeInt(prepare.together().size());
        for (ReceiveBatch group : prepare.together()) {
          out.writeInt(group.source());
          texts(group.edges(), out);
        }
      }
      case ControlMessage.Run run -> {
        out.writeByte(RUN);
        out.writeLong(run.ticket());
        out.writeInt(run.session());
        out.writeInt(run.call());
        out.writeLong(run.nanos());
      }
      case ControlMessage.Abort abort -> {
        out.writeByte(ABORT);
        out.writeLong(abort.step());
        text(cut(abort.why()), out);
      }
      case ControlMessage.End end -> {
        out.writeByte(END);
        out.writeLong(end.step());
      }
      case ControlMessage.Drop drop -> {
        out.writeByte(DROP);
        out.writeInt(drop.session());
      }
      case ControlMessage.Done done -> {
        out.writeByte(DONE);
        out.writeLong(done.ticket());
      }
      case ControlMessage.Failed failed -> {
        out.writeByte(FAILED);
        out.writeLong(failed.ticket());
        text(failed.failure().reason().name(), out);
        out.writeInt(failed.failure().rank());
        out.writeBoolean(failed.failure().echo());
        text(cut(failed.failure().text()), out);
      }
    }
  }

  private static ControlMessage read(DataInputStream in) throws IOException {
    byte type = in.readByte();
    return switch (type) {
      case HOST -> new ControlMessage.Host(in.readLong(), in.readInt(), bytes(in));
      case PREPARE ->
          new ControlMessage.Prepare(
              in.readInt(),
              in.readInt(),
              new GraphCall(texts(in), texts(in), texts(in)),
              groups(in));
      case RUN -> new ControlMessage.Run(in.readLong(), in.readInt(), in.readInt(), in.readLong());
      case ABORT -> new ControlMessage.Abort(in.readLong(), text(in));
      case END -> new ControlMessage.End(in.readLong());
      case DROP -> new ControlMessage.Drop(in.readInt());
      case DONE -> new ControlMessage.Done(in.readLong());
      case FAILED ->
          new ControlMessage.Failed(
              in.readLong(),
              new Failure(Reason.valueOf(text(in)), in.readInt(), in.readBoolean(), text(in)));
      default -> throw new IllegalArgumentException("control message of type " + type);
    };
  }

  private static String cut(String text) {
    return text.substring(0, Math.min(text.length(), MOST_CHARACTERS));
  }

  private static void text(String text, DataOutputStream out) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    out.writeInt(bytes.length);
    out.write(bytes);
  }

  private static String text(DataInputStream in) throws IOException {
    return new String(bytes(in), StandardCharsets.UTF_8);
  }

  private static byte[] bytes(DataInputStream in) throws IOException {
    return in.readNBytes(length(in));
  }

  private static void texts(List<String> all, DataOutputStream out) throws IOException {
    out.writeInt(all.size());
    for (String text : all) {
      text(text, out);
    }
  }

  private static List<String> texts(DataInputStream in) throws IOException {
    int count = length(in);
    List<String> all = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      all.add(text(in));
    }
    return all;
  }

  private static List<ReceiveBatch> groups(DataInputStream in) throws IOException {
    int count = length(in);
    List<ReceiveBatch> all = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      all.add(new ReceiveBatch(in.readInt(), texts(in)));
    }
    return all;
  }

  /// Reads a length. Rejects lengths above the remaining bytes, because each element has at least
  /// one.
  private static int length(DataInputStream in) throws IOException {
    int length = in.readInt();
    if (length < 0 || length > in.available()) {
      throw new IllegalArgumentException(
          "length " + length + " with " + in.available() + " bytes left in a control message");
    }
    return length;
  }
}
