// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.flight;

import io.weft.file.ForeignDirectory;
import io.weft.file.ForeignFile;
import io.weft.file.NewFile;
import io.weft.transport.limit.IoErrors;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;

/// The files `rank-R.flight` of all ranks in one directory. Each is complete, because it is written
/// under another name first.
///
/// @param directory the directory, created with the first file
public record FlightFile(Path directory) implements FlightSink {
  /// Throws `NullPointerException` if a component is null.
  public FlightFile {
    Objects.requireNonNull(directory, "directory");
  }

  private static final int MOST_BYTES = 1 << 23;

  /// Returns the file of this rank.
  public Path of(int rank) {
    return directory.resolve("rank-" + rank + ".flight");
  }

  @Override
  public void put(FlightLog log) throws IOException {
    ForeignDirectory.make(directory);
    Path file = of(log.self().rank());
    NewFile.write(file, log.text().getBytes(StandardCharsets.UTF_8));
  }

  /// Creates the directory if necessary, and checks that a file can be written in it. Throws
  /// `IOException` that names the directory and the cause.
  public void prepare() throws IOException {
    if (Files.exists(directory) && !Files.isDirectory(directory)) {
      throw new NotDirectoryException(directory.toString());
    }
    try {
      ForeignDirectory.make(directory);
      NewFile.begin(directory.resolve("writable")).close();
    } catch (IOException refused) {
      throw new FileSystemException(directory.toString(), null, IoErrors.reason(refused));
    }
  }

  /// Removes the log of this rank, if there is one, and the remains of a killed process's log.
  /// Throws `IOException` if the file is not a log.
  public void remove(int rank) throws IOException {
    Path file = of(rank);
    byte[] expected = LogText.FIRST_LINE.getBytes(StandardCharsets.UTF_8);
    NewFile.sweep(file);
    try (InputStream in = ForeignFile.found(file).open()) {
      if (!Arrays.equals(in.readNBytes(expected.length), expected)) {
        throw new IOException(file + " is not a flight file; name another directory");
      }
      Files.delete(file);
    } catch (NoSuchFileException none) {
      return;
    } catch (FileSystemException unusable) {
      throw new IOException(
          file + " cannot be removed: " + IoErrors.reason(unusable) + "; name another directory",
          unusable);
    }
  }

  /// Reads the log of this rank; empty without a file. Throws `IOException` naming the file and the
  /// fault if it cannot be read or is not a log of this rank.
  public Optional<FlightLog> find(int rank) throws IOException {
    Path file = of(rank);
    byte[] bytes;
    try {
      bytes = ForeignFile.found(file).bytes(MOST_BYTES);
    } catch (NoSuchFileException none) {
      return Optional.empty();
    } catch (IOException unreadable) {
      throw new IOException(file + ": " + IoErrors.reason(unreadable), unreadable);
    }
    try {
      return Optional.of(decoded(bytes, rank));
    } catch (IllegalArgumentException malformed) {
      throw new IOException(file + ": " + malformed.getMessage(), malformed);
    }
  }

  /// Decodes a log. Throws `IllegalArgumentException` if the bytes are too long, not UTF-8, or not
  /// a log of this rank.
  static FlightLog decoded(byte[] bytes, int rank) {
    if (bytes.length > MOST_BYTES) {
      throw new IllegalArgumentException("longer than " + MOST_BYTES + " bytes");
    }
    String text;
    try {
      text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException other) {
      throw new IllegalArgumentException("it is not UTF-8 text", other);
    }
    FlightLog log = FlightLog.parse(text);
    if (log.self().rank() != rank) {
      throw new IllegalArgumentException("the log of rank " + log.self().rank());
    }
    return log;
  }
}
