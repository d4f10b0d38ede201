// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.checkpoint;

import io.weft.tensor.TensorView;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;
import java.util.zip.CheckedInputStream;
import java.util.zip.CheckedOutputStream;

/// One checkpoint on disk, big-endian: magic `WEFTCKP1`; the manifest as text; the number of past
/// losses and the losses (f64); the number of accuracies and these (f64); the number of tensors;
/// for each its name, its signature, its length and its bytes; then the CRC-32C of all that. A
/// length is compared with what the graph has before anything is read.
final class CheckpointFile {

  private static final long MAGIC = 0x57454654434b5031L;
  private static final int TILE_BYTES = 1 << 16;

  private CheckpointFile() {}

  /// Writes to `file`, which must not exist, down to the disk.
  static void write(Path file, Manifest manifest, History history, List<SavedTensor> tensors)
      throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      var crc = new CRC32C();
      OutputStream buffered = new BufferedOutputStream(Channels.newOutputStream(channel), 1 << 18);
      var out = new DataOutputStream(new CheckedOutputStream(buffered, crc));
      out.writeLong(MAGIC);
      out.writeUTF(manifest.text());
      writeNumbers(out, history.losses());
      writeNumbers(out, history.accuracies());
      out.writeInt(tensors.size());
      byte[] tile = new byte[TILE_BYTES];
      for (SavedTensor tensor : tensors) {
        out.writeUTF(tensor.name());
        out.writeUTF(tensor.copy().signature());
        out.writeLong(tensor.copy().bytes());
        write(out, tensor.copy(), tile);
      }
      out.writeLong(crc.getValue());
      out.flush();
      channel.force(true);
    }
  }

  /// Reads only what a run must agree with. Throws `IOException` with what is wrong.
  static Manifest manifest(Path file) throws IOException {
    try (var in = new DataInputStream(new BufferedInputStream(Files.newInputStream(file)))) {
      return manifest(in);
    } catch (EOFException e) {
      throw truncated(e);
    }
  }

  /// Reads into the tensors, which hold nothing useful if this throws `IOException` with what is
  /// wrong.
  static History read(Path file, List<SavedTensor> tensors) throws IOException {
    var crc = new CRC32C();
    try (var in =
        new DataInputStream(
            new CheckedInputStream(
                new BufferedInputStream(Files.newInputStream(file), 1 << 18), crc))) {
      Manifest ignored = manifest(in);
      long bytes = Files.size(file);
      List<Double> losses = readNumbers(in, bytes);
      List<Double> accuracies = readNumbers(in, bytes);
      expect("tensors", tensors.size(), in.readInt());
      byte[] tile = new byte[TILE_BYTES];
      for (SavedTensor tensor : tensors) {
        expect("tensor", tensor.name(), in.readUTF());
        expect("type of " + tensor.name(), tensor.copy().signature(), in.readUTF());
        expect("bytes of " + tensor.name(), tensor.copy().bytes(), in.readLong());
        read(in, tensor.copy(), tile);
      }
      long computed = crc.getValue();
      expect("checksum", computed, in.readLong());
      return new History(losses, accuracies);
    } catch (EOFException e) {
      throw truncated(e);
    }
  }

  private static Manifest manifest(DataInputStream in) throws IOException {
    if (in.readLong() != MAGIC) {
      throw new IOException("it does not begin with WEFTCKP1");
    }
    return Manifest.parse(in.readUTF());
  }

  private static void writeNumbers(DataOutputStream out, List<Double> numbers) throws IOException {
    out.writeInt(numbers.size());
    for (double number : numbers) {
      out.writeDouble(number);
    }
  }

  private static List<Double> readNumbers(DataInputStream in, long fileBytes) throws IOException {
    int count = in.readInt();
    if (count < 0 || (long) count * Double.BYTES > fileBytes) {
      throw new IOException("it claims a history of " + count + " numbers");
    }
    var numbers = new ArrayList<Double>(count);
    for (int i = 0; i < count; i++) {
      numbers.add(in.readDouble());
    }
    return numbers;
  }

  private static void write(OutputStream out, TensorView view, byte[] tile) throws IOException {
    MemorySegment data = view.data();
    for (long at = 0; at < data.byteSize(); at += tile.length) {
      int bytes = (int) Math.min(tile.length, data.byteSize() - at);
      MemorySegment.copy(data, ValueLayout.JAVA_BYTE, at, tile, 0, bytes);
      out.write(tile, 0, bytes);
    }
  }

  private static void read(DataInputStream in, TensorView view, byte[] tile) throws IOException {
    MemorySegment data = view.data();
    for (long at = 0; at < data.byteSize(); at += tile.length) {
      int bytes = (int) Math.min(tile.length, data.byteSize() - at);
      in.readFully(tile, 0, bytes);
      MemorySegment.copy(tile, 0, data, ValueLayout.JAVA_BYTE, at, bytes);
    }
  }

  private static void expect(String what, Object expected, Object found) throws IOException {
    if (!expected.equals(found)) {
      throw new IOException("its " + what + " should be " + expected + " but is " + found);
    }
  }

  private static IOException truncated(EOFException cause) {
    return new IOException("it ends too early", cause);
  }
}
