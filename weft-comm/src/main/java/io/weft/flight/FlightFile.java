// SPDX-License-Identifier: Apache-2.0
package io.weft.flight;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.Optional;

/// The file `rank-R.flight` of each rank in one directory. A file there is whole: it is written
/// under another name first.
///
/// @param directory made when the first file is written
public record FlightFile(Path directory) implements FlightSink {

  private static final int MOST_BYTES = 1 << 23;

  /// Of this rank.
  public Path of(int rank) {
    return directory.resolve("rank-" + rank + ".flight");
  }

  @Override
  public void put(FlightLog log) throws IOException {
    Files.createDirectories(directory);
    Path file = of(log.self().rank());
    Path begun = directory.resolve("." + file.getFileName() + "." + ProcessHandle.current().pid());
    try {
      Files.writeString(begun, log.text());
      Files.move(begun, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } finally {
      Files.deleteIfExists(begun);
    }
  }

  /// Removes the log of this rank, if one is there. Throws `IOException` where the file is none.
  public void remove(int rank) throws IOException {
    Path file = of(rank);
    byte[] expected = LogText.FIRST_LINE.getBytes(StandardCharsets.UTF_8);
    try (InputStream in = Files.newInputStream(file, LinkOption.NOFOLLOW_LINKS)) {
      if (!Arrays.equals(in.readNBytes(expected.length), expected)) {
        throw new IOException(file + " is no flight file; name another directory");
      }
    } catch (NoSuchFileException none) {
      return;
    }
    Files.delete(file);
  }

  /// The log of this rank; empty where there is no file. Throws `IOException` naming the file and
  /// what is wrong where it cannot be read or is no log of this rank.
  public Optional<FlightLog> find(int rank) throws IOException {
    Path file = of(rank);
    byte[] bytes;
    try (InputStream in = Files.newInputStream(file, LinkOption.NOFOLLOW_LINKS)) {
      bytes = in.readNBytes(MOST_BYTES + 1);
    } catch (NoSuchFileException none) {
      return Optional.empty();
    }
    try {
      return Optional.of(decoded(bytes, rank));
    } catch (IllegalArgumentException | CharacterCodingException malformed) {
      throw new IOException(file + ": " + malformed.getMessage(), malformed);
    }
  }

  /// Throws `IllegalArgumentException` where it is too long or no log of this rank.
  static FlightLog decoded(byte[] bytes, int rank) throws CharacterCodingException {
    if (bytes.length > MOST_BYTES) {
      throw new IllegalArgumentException("longer than " + MOST_BYTES + " bytes");
    }
    String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    FlightLog log = FlightLog.parse(text);
    if (log.self().rank() != rank) {
      throw new IllegalArgumentException("the log of rank " + log.self().rank());
    }
    return log;
  }
}
