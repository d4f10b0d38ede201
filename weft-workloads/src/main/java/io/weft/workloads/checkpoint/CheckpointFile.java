// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.checkpoint;

import io.weft.file.ForeignFile;
import io.weft.file.NewFile;
import io.weft.tensor.TensorView;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.io.Serial;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;
import java.util.zip.CheckedInputStream;
import java.util.zip.CheckedOutputStream;

/// One checkpoint on disk, big-endian. It consists of the magic `WEFTCKP1`, the manifest as text,
/// the number of past losses and the losses (f64), the number of accuracies and the accuracies
/// (f64), and the number of tensors. The name, signature, length and bytes of each tensor follow,
/// and then the CRC-32C of all preceding bytes. Readers use no content before the checksum is
/// verified.
final class CheckpointFile {

  private static final long MAGIC = 0x57454654434b5031L;
  private static final int TILE_BYTES = 1 << 16;

  private CheckpointFile() {}

  /// An intact checkpoint of other tensors than the requested ones.
  static final class Misfit extends IOException {

    @Serial private static final long serialVersionUID = 1L;

    Misfit(String message) {
      super(message);
    }
  }

  /// Returns the path of a checkpoint after this number of epochs.
  static Path of(Path directory, int epochs) {
    return directory.resolve("epoch-%05d.weft".formatted(epochs));
  }

  /// Writes `file` durably to the disk. The file appears whole or not at all.
  static void write(Path file, Manifest manifest, History history, List<SavedTensor> tensors)
      throws IOException {
    NewFile.write(
        file,
        stream -> {
          var crc = new CRC32C();
          OutputStream buffered = new BufferedOutputStream(stream, 1 << 18);
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
        });
  }

  /// Verifies the whole file, and returns the manifest. Throws `IOException` with the defect, so
  /// that the contents of a damaged file are never used.
  static Manifest verified(Path file) throws IOException {
    verify(file);
    try (var in = open(file)) {
      Manifest manifest = manifest(in);
      long bytes = Files.size(file);
      List<Double> losses = readNumbers(in, bytes);
      List<Double> accuracies = readNumbers(in, bytes);
      int epochs = manifest.epochs();
      if (epochs < 1 || accuracies.size() != epochs || losses.size() % epochs != 0) {
        throw new IOException(
            "its manifest has %d epochs, its history %d of %d steps"
                .formatted(epochs, accuracies.size(), losses.size()));
      }
      return manifest;
    } catch (EOFException e) {
      throw truncated(e);
    }
  }

  private static void verify(Path file) throws IOException {
    try (var in = open(file)) {
      var crc = new CRC32C();
      byte[] tile = new byte[TILE_BYTES];
      long left = Files.size(file) - Long.BYTES;
      while (left > 0) {
        int bytes = (int) Math.min(tile.length, left);
        in.readFully(tile, 0, bytes);
        crc.update(tile, 0, bytes);
        left -= bytes;
      }
      if (in.readLong() != crc.getValue()) {
        throw new IOException("its checksum does not match its bytes");
      }
      if (in.read() >= 0) {
        throw new IOException("it grew while it was read");
      }
    } catch (EOFException e) {
      throw truncated(e);
    }
  }

  private static DataInputStream open(Path file) throws IOException {
    return new DataInputStream(new BufferedInputStream(ForeignFile.found(file).open(), 1 << 18));
  }

  /// Reads a verified file into the tensors, whose order in the file may differ. Throws
  /// `IOException` with the defect, or `Misfit` if the file has other tensors; the contents of the
  /// tensors are then undefined.
  static History read(Path file, List<SavedTensor> tensors) throws IOException {
    var crc = new CRC32C();
    try (var in = new DataInputStream(new CheckedInputStream(open(file), crc))) {
      Manifest ignored = manifest(in);
      long bytes = Files.size(file);
      List<Double> losses = readNumbers(in, bytes);
      List<Double> accuracies = readNumbers(in, bytes);
      expect("tensors", tensors.size(), in.readInt());
      byte[] tile = new byte[TILE_BYTES];
      Map<String, SavedTensor> missing = new LinkedHashMap<>();
      tensors.forEach(tensor -> missing.put(tensor.name(), tensor));
      while (!missing.isEmpty()) {
        String name = in.readUTF();
        SavedTensor tensor = missing.remove(name);
        if (tensor == null) {
          throw new Misfit(
              "tensor: expected " + missing.keySet().iterator().next() + ", it has " + name);
        }
        expect("type of " + tensor.name(), tensor.copy().signature(), in.readUTF());
        expect("bytes of " + tensor.name(), tensor.copy().bytes(), in.readLong());
        read(in, tensor.copy(), tile);
      }
      long computed = crc.getValue();
      if (in.readLong() != computed || in.read() >= 0) {
        throw new IOException("its checksum no longer matches its bytes");
      }
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
      throw new Misfit("its " + what + " should be " + expected + " but is " + found);
    }
  }

  private static IOException truncated(EOFException cause) {
    return new IOException("it ends too early", cause);
  }
}
