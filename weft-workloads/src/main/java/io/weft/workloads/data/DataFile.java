// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.data;

import io.weft.file.ForeignFile;
import io.weft.transport.limit.IoErrors;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PushbackInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Supplier;
import java.util.zip.GZIPInputStream;

/// A published file on disk. Its first bytes, not its name, decide whether it is decompressed.
///
/// @param path the file
/// @param remedy the place where the file is published; ends every error message
public record DataFile(Path path, String remedy) {

  private static final int MAX_LINE = 1 << 16;

  /// The limit on characters in blank lines: far above any data set's, read in under a second.
  private static final int MOST_BLANK = 1 << 22;

  /// Returns the first of these names that exists in `directory`, each also tried with `.gz`
  /// appended. Throws `Missing` if none exists.
  public static DataFile find(Path directory, List<String> names, String remedy) {
    if (!Files.isDirectory(directory)) {
      throw new DataException.Missing(
          (Files.exists(directory)
                  ? directory + " is not a directory"
                  : "no directory " + directory)
              + "; expected one with "
              + names.getFirst()
              + " in it; "
              + remedy);
    }
    for (String name : names) {
      for (String ending : List.of("", ".gz")) {
        Path candidate = directory.resolve(name + ending);
        if (Files.isRegularFile(candidate)) {
          return new DataFile(candidate, remedy);
        }
      }
    }
    throw new DataException.Missing(
        "no file "
            + String.join(" or ", names)
            + " (with or without .gz) in "
            + directory
            + "; "
            + remedy);
  }

  /// Opens the file, and inflates it if it begins with gzip's magic number. The caller closes the
  /// stream. Throws `Missing` if the file cannot be opened or is not a regular file.
  public InputStream open() {
    try {
      return inflating(ForeignFile.named(path).open());
    } catch (IOException e) {
      throw unreadable(e);
    }
  }

  /// Returns whether the file begins with gzip's magic number. Throws `Missing` if the file cannot
  /// be opened or is not a regular file.
  public boolean isCompressed() {
    try (InputStream in = ForeignFile.named(path).open()) {
      return isGzip(in.readNBytes(2));
    } catch (IOException e) {
      throw unreadable(e);
    }
  }

  private static boolean isGzip(byte[] magic) {
    return magic.length == 2 && magic[0] == 0x1f && magic[1] == (byte) 0x8b;
  }

  /// A consumer of lines of text.
  @FunctionalInterface
  public interface LineReader {

    /// Takes one line, without its terminator; `number` counts from 1. Returns whether to read on.
    boolean line(String line, int number);
  }

  /// Reads the file as lines of ISO 8859-1. A line may have at most 65,536 characters, and all
  /// blank lines together at most 4 MiB. These limits bound the cost of a file that inflates to any
  /// length without line terminators or with blank lines only. Throws `Malformed`, and `TooLarge`
  /// if the heap has no room for the data that `reader` keeps.
  public void lines(LineReader reader) {
    boolean unused =
        within(
            () -> {
              read(reader);
              return true;
            });
  }

  private void read(LineReader reader) {
    try (InputStream in = open()) {
      var line = new StringBuilder();
      int number = 0;
      int blank = 0;
      boolean more = true;
      while (more) {
        int character = in.read();
        if (character >= 0 && character != '\n') {
          if (line.length() == MAX_LINE) {
            throw malformed(
                "lines of at most " + MAX_LINE + " characters", "more in line " + (number + 1));
          }
          line.append((char) character);
        } else {
          boolean end = character < 0;
          blank += isBlank(line) ? line.length() + 1 : 0;
          if (blank > MOST_BLANK) {
            throw malformed("at most " + MOST_BLANK + " characters in blank lines", "more");
          }
          boolean goOn = (end && line.isEmpty()) || reader.line(line.toString(), ++number);
          more = goOn && !end;
          line.setLength(0);
        }
      }
    } catch (IOException e) {
      throw unreadable(e);
    }
  }

  private static boolean isBlank(StringBuilder line) {
    for (int i = 0; i < line.length(); i++) {
      if (line.charAt(i) > ' ') {
        return false;
      }
    }
    return true;
  }

  private static InputStream inflating(InputStream file) throws IOException {
    try {
      var peekable = new PushbackInputStream(new BufferedInputStream(file, 1 << 16), 2);
      byte[] magic = peekable.readNBytes(2);
      peekable.unread(magic);
      return isGzip(magic)
          ? new BufferedInputStream(new GZIPInputStream(peekable, 1 << 16), 1 << 16)
          : peekable;
    } catch (IOException | RuntimeException e) {
      file.close();
      throw e;
    }
  }

  /// Returns the error for wrong content.
  public DataException malformed(String expected, String found) {
    return new DataException.Malformed(path, expected, found, remedy);
  }

  /// Returns the result of `reading`. Throws `TooLarge` if the heap has no room for it.
  public <T> T within(Supplier<T> reading) {
    try {
      return reading.get();
    } catch (OutOfMemoryError noRoom) {
      throw new DataException.TooLarge(path.toString(), noRoom);
    }
  }

  /// Returns the error for a file that is truncated or cannot be inflated or read.
  public DataException unreadable(IOException cause) {
    String found = IoErrors.reason(cause);
    return Files.isReadable(path) && Files.isRegularFile(path)
        ? malformed("a whole file", "a damaged or truncated one (" + found + ")")
        : new DataException.Missing("cannot read " + path + ": " + found + "; " + remedy);
  }
}
