// SPDX-License-Identifier: Apache-2.0
package io.weft.file;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Objects;
import java.util.Set;

/// A regular file that this process reads and that another user may have created. It is checked
/// before it is opened, because opening a pipe would wait for its writer. Errors name the file.
/// Immutable.
public final class ForeignFile {

  private static final String BYTE_ORDER_MARK = "\uFEFF";
  private static final int MOST_ATTEMPTS = 100;

  private final Path path;
  private final boolean named;

  private ForeignFile(Path path, boolean named) {
    this.path = path;
    this.named = named;
  }

  /// Returns a file that the user has named. It may be a symbolic link to a regular file.
  public static ForeignFile named(Path path) {
    Objects.requireNonNull(path, "path");
    return new ForeignFile(path, true);
  }

  /// Returns a file in a directory in which others may have put something else under this name. It
  /// must not be a symbolic link, and its owner must be this user, root, or the owner of the
  /// directory.
  public static ForeignFile found(Path path) {
    Objects.requireNonNull(path, "path");
    return new ForeignFile(path, false);
  }

  /// Opens the file without waiting for other processes; the caller closes it. If another file
  /// replaces it in between, as by a rename, that file is checked and opened. Throws
  /// `NoSuchFileException` if there is none.
  public InputStream open() throws IOException {
    for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      Path file = named ? target() : path;
      BasicFileAttributes before = attributes(file);
      if (!before.isRegularFile()) {
        throw refused(FileKind.of(before) + ", not a regular file");
      }
      if (!named && !FileOwner.isTrusted(file)) {
        throw refused("it belongs to another user, " + FileOwner.name(file));
      }
      SeekableByteChannel channel =
          Files.newByteChannel(file, Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS));
      if (isStill(before, file, channel)) {
        return Channels.newInputStream(channel);
      }
      channel.close();
    }
    throw refused("each time it was opened, another file took its place");
  }

  /// Returns whether the checked file is the opened one. Closes the channel if that cannot be
  /// determined.
  private static boolean isStill(BasicFileAttributes before, Path file, SeekableByteChannel channel)
      throws IOException {
    try {
      return Objects.equals(before.fileKey(), attributes(file).fileKey());
    } catch (IOException | RuntimeException unusable) {
      channel.close();
      throw unusable;
    }
  }

  /// Reads the whole file. Throws `IOException` if it is longer than `mostBytes`; at most one
  /// further byte is read.
  public byte[] bytes(int mostBytes) throws IOException {
    byte[] bytes;
    try (InputStream in = open()) {
      bytes = in.readNBytes(Math.addExact(mostBytes, 1));
    }
    if (bytes.length > mostBytes) {
      throw refused("it is longer than " + mostBytes + " bytes");
    }
    return bytes;
  }

  /// Reads the whole file as UTF-8 text, without a leading byte order mark. Throws `IOException` if
  /// it is not UTF-8 or longer than `mostBytes`.
  public String text(int mostBytes) throws IOException {
    try {
      String text =
          StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes(mostBytes))).toString();
      return text.startsWith(BYTE_ORDER_MARK) ? text.substring(1) : text;
    } catch (CharacterCodingException other) {
      throw refused("it is not UTF-8 text");
    }
  }

  /// Resolves the links that the user named.
  private Path target() throws IOException {
    try {
      return path.toRealPath();
    } catch (NoSuchFileException absent) {
      // A descriptor below /dev/fd may refer to an object without a path.
      if (Files.exists(path)) {
        throw refused("it is a FIFO, a socket or a device, not a regular file");
      }
      throw absent;
    }
  }

  private static BasicFileAttributes attributes(Path file) throws IOException {
    return Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
  }

  private FileSystemException refused(String why) {
    return new FileSystemException(path.toString(), null, why);
  }
}
