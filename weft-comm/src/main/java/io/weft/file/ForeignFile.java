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

/// A file that this process reads and that somebody else may have made: a regular file, looked at
/// before it is opened, since the opening of a pipe already waits for whoever writes to it. All
/// errors are `FileSystemException`s that name the file. Immutable.
public final class ForeignFile {

  private static final String BYTE_ORDER_MARK = "\uFEFF";
  private static final int MOST_ATTEMPTS = 100;

  private final Path path;
  private final boolean named;

  private ForeignFile(Path path, boolean named) {
    this.path = path;
    this.named = named;
  }

  /// One that the user has named. It may be a symbolic link to a regular file.
  public static ForeignFile named(Path path) {
    Objects.requireNonNull(path, "path");
    return new ForeignFile(path, true);
  }

  /// One that is expected in a directory where others may have put something else under this name:
  /// it must be no symbolic link, and be this user's, root's, or of whoever owns the directory.
  public static ForeignFile found(Path path) {
    Objects.requireNonNull(path, "path");
    return new ForeignFile(path, false);
  }

  /// Opens it; the caller closes. Throws `NoSuchFileException` where there is none, and does not
  /// wait for anybody. Where another file takes its place meanwhile, as by a rename, that one is
  /// looked at and opened.
  public InputStream open() throws IOException {
    for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      Path file = named ? target() : path;
      BasicFileAttributes before = attributes(file);
      if (!before.isRegularFile()) {
        throw refused(FileKind.of(before) + ", not a regular file");
      }
      if (!named && !FileOwner.isTrusted(file)) {
        throw refused("it belongs to somebody else, " + FileOwner.name(file));
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

  /// Whether what was looked at is what was opened; closes the channel where that is not known.
  private static boolean isStill(BasicFileAttributes before, Path file, SeekableByteChannel channel)
      throws IOException {
    try {
      return Objects.equals(before.fileKey(), attributes(file).fileKey());
    } catch (IOException | RuntimeException unusable) {
      channel.close();
      throw unusable;
    }
  }

  /// All of it. Throws `IOException` where it is longer than `mostBytes`, of which no more than one
  /// byte is read.
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

  /// All of it as text, UTF-8, without the byte order mark that some editors put first. Throws
  /// `IOException` where it is none, or longer than `mostBytes`.
  public String text(int mostBytes) throws IOException {
    try {
      String text =
          StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes(mostBytes))).toString();
      return text.startsWith(BYTE_ORDER_MARK) ? text.substring(1) : text;
    } catch (CharacterCodingException other) {
      throw refused("it is no text in UTF-8");
    }
  }

  /// What the links that the user named lead to.
  private Path target() throws IOException {
    try {
      return path.toRealPath();
    } catch (NoSuchFileException absent) {
      // A descriptor below /dev/fd leads to something that has no path.
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
