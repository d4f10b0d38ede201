// SPDX-License-Identifier: Apache-2.0
package io.weft.file;

import io.weft.transport.limit.IoErrors;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// A file that is being written next to its target, under an unpredictable and new name, so that no
/// link of another user can redirect it. It appears under the target's name either complete or not
/// at all. Its writer keeps it locked, which distinguishes it from the remains of a killed process;
/// `sweep` removes those. Owned; one thread.
public final class NewFile implements AutoCloseable {

  private static final Set<OpenOption> NEW =
      Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
  private static final FileAttribute<?> OWNER_ONLY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  /// The identifier in the names of this process's files. This process would lose its lock on such
  /// a file by opening it again.
  static final String PROCESS = random();

  private static final Pattern UNFINISHED =
      Pattern.compile("\\.(.+)\\.([0-9a-f]{16})-[0-9a-f]{16}\\.tmp");

  /// Maximum number of characters kept from the name, so that the extended name fits into 255
  /// bytes.
  private static final int MOST_NAME_CHARACTERS = 50;

  private static final int ATTEMPTS = 100;

  private final Path file;
  private final Path unfinished;
  private final FileChannel channel;
  private boolean published;

  private NewFile(Path file, Path unfinished, FileChannel channel) {
    this.file = file;
    this.unfinished = unfinished;
    this.channel = channel;
  }

  /// Begins `file`. If it exists and belongs to this user or root, the new file takes over its
  /// permissions. Throws `IOException` if the target is not a regular file. A symbolic link is
  /// followed if both the link and its directory belong to this user or root.
  public static NewFile begin(Path file) throws IOException {
    Path target = target(file.toAbsolutePath());
    NewFile begun = begin(target, new FileAttribute<?>[0]);
    try {
      if (Files.exists(target, LinkOption.NOFOLLOW_LINKS)
          && isPosix(target)
          && FileOwner.isOwn(target)) {
        Set<PosixFilePermission> kept = Files.getPosixFilePermissions(target);
        if (!kept.equals(Files.getPosixFilePermissions(begun.unfinished))) {
          Files.setPosixFilePermissions(begun.unfinished, kept);
        }
      }
      return begun;
    } catch (IOException | RuntimeException refused) {
      begun.close();
      throw refused;
    }
  }

  /// Returns the reason why `begin` would fail now, for a message that names the file. Empty if the
  /// directory is writable and the name is not taken by a directory, device or pipe, and for the
  /// names of this process's standard streams.
  public static Optional<String> obstacle(Path file) {
    if (standardStream(file) != null) {
      return Optional.empty();
    }
    Path directory;
    try {
      directory = target(file.toAbsolutePath()).getParent();
    } catch (IOException refused) {
      return Optional.of(IoErrors.reason(refused));
    }
    if (directory == null || !Files.isDirectory(directory)) {
      return Optional.of("there is no directory " + directory);
    }
    return Files.isWritable(directory)
        ? Optional.empty()
        : Optional.of("permission denied in the directory " + directory);
  }

  /// Begins `file` so that only its owner can read it. An existing file is replaced.
  public static NewFile beginPrivate(Path file) throws IOException {
    Path target = file.toAbsolutePath();
    Path directory = target.getParent();
    if (directory != null) {
      ForeignDirectory.requireOwnWay(directory);
    }
    return begin(
        target, isPosix(target) ? new FileAttribute<?>[] {OWNER_ONLY} : new FileAttribute<?>[0]);
  }

  /// Writes the complete `file` to the disk. Throws a `FileSystemException` that names it.
  public static void write(Path file, byte[] content) throws IOException {
    Objects.requireNonNull(content, "content");
    write(
        file,
        out -> {
          for (int at = 0; at < content.length; at += 1 << 16) {
            out.write(content, at, Math.min(1 << 16, content.length - at));
          }
        });
  }

  /// The content of a file.
  @FunctionalInterface
  public interface Content {

    /// Writes the content.
    void writeTo(OutputStream out) throws IOException;
  }

  /// Writes the complete `file` to the disk from a content that is generated piece by piece.
  /// `content` must buffer. `/dev/stdout` and `/dev/stderr` are the streams of this process, which
  /// stay open. Throws a `FileSystemException` that names the file.
  public static void write(Path file, Content content) throws IOException {
    Objects.requireNonNull(content, "content");
    FileDescriptor stream = standardStream(file);
    if (stream != null) {
      content.writeTo(new FileOutputStream(stream));
      return;
    }
    try (NewFile begun = begin(file)) {
      content.writeTo(begun.stream());
      begun.publishDurably();
    } catch (IOException refused) {
      if (refused instanceof FileSystemException named && file.toString().equals(named.getFile())) {
        throw named;
      }
      var named = new FileSystemException(file.toString(), null, IoErrors.reason(refused));
      named.initCause(refused);
      throw named;
    }
  }

  /// Writes a new file, directly under its name, that only its owner can read. Throws
  /// `FileAlreadyExistsException` if the name is taken.
  public static void createPrivate(Path file, byte[] content) throws IOException {
    Objects.requireNonNull(content, "content");
    FileAttribute<?>[] attributes =
        isPosix(file.toAbsolutePath())
            ? new FileAttribute<?>[] {OWNER_ONLY}
            : new FileAttribute<?>[0];
    try (FileChannel channel = FileChannel.open(file, NEW, attributes)) {
      try {
        Channels.newOutputStream(channel).write(content);
      } catch (IOException refused) {
        Files.deleteIfExists(file);
        throw refused;
      }
    }
  }

  /// The stream to the file, without a buffer. Closed with this object.
  public OutputStream stream() {
    return Channels.newOutputStream(channel);
  }

  /// Renames the file to its target.
  public void publish() throws IOException {
    Files.move(
        unfinished, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    published = true;
  }

  /// Renames the file to its target after all of its content is on the disk.
  public void publishDurably() throws IOException {
    channel.force(true);
    publish();
  }

  /// Removes the file unless it was published.
  @Override
  public void close() throws IOException {
    try {
      if (!published) {
        Files.deleteIfExists(unfinished);
      }
    } finally {
      channel.close();
    }
  }

  /// Removes the remains of killed processes in this directory whose target names match the pattern
  /// as a whole. Remains that cannot be removed stay.
  public static void sweep(Path directory, Pattern names) {
    Objects.requireNonNull(names, "names");
    try {
      for (Path entry : ForeignDirectory.entries(directory, ".*.tmp")) {
        Matcher matcher = UNFINISHED.matcher(entry.getFileName().toString());
        if (matcher.matches()
            && names.matcher(matcher.group(1)).matches()
            && !matcher.group(2).equals(PROCESS)) {
          removeLeft(entry);
        }
      }
    } catch (IOException unreadable) {
      // The directory has nothing that this user can remove.
      assert !unreadable.toString().isEmpty();
    }
  }

  /// Removes the remains of killed processes for this file.
  public static void sweep(Path file) {
    Path absolute = file.toAbsolutePath();
    Path directory = absolute.getParent();
    if (directory != null) {
      sweep(directory, Pattern.compile(Pattern.quote(shortened(absolute))));
    }
  }

  private static void removeLeft(Path unfinished) {
    try {
      if (!FileOwner.isTrusted(unfinished)) {
        return;
      }
      try (FileChannel channel = LockFile.open(unfinished)) {
        if (channel.tryLock() != null) {
          Files.deleteIfExists(unfinished);
        }
      }
    } catch (IOException | OverlappingFileLockException inUse) {
      // Another process was faster, or this process may not remove the entry.
      assert !inUse.toString().isEmpty();
    }
  }

  private static NewFile begin(Path target, FileAttribute<?>... attributes) throws IOException {
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      Path unfinished =
          target.resolveSibling("." + shortened(target) + "." + PROCESS + "-" + random() + ".tmp");
      FileChannel channel = FileChannel.open(unfinished, NEW, attributes);
      try {
        if (isLocked(channel, unfinished)) {
          return new NewFile(target, unfinished, channel);
        }
      } catch (RuntimeException refused) {
        channel.close();
        throw refused;
      }
      channel.close();
      Files.deleteIfExists(unfinished);
    }
    throw new FileSystemException(target.toString(), null, "others remove it before it is locked");
  }

  /// Returns false if a sweeping process intervened between creation and locking.
  static boolean isLocked(FileChannel channel, Path unfinished) {
    try {
      return channel.tryLock() != null && Files.exists(unfinished, LinkOption.NOFOLLOW_LINKS);
    } catch (IOException noLocks) {
      return true; // no locks here, so a sweeping process cannot lock it either
    }
  }

  private static @Nullable FileDescriptor standardStream(Path file) {
    return switch (file.toString()) {
      case "/dev/stdout" -> FileDescriptor.out;
      case "/dev/stderr" -> FileDescriptor.err;
      default -> null;
    };
  }

  private static Path target(Path file) throws IOException {
    Path directory = file.getParent();
    if (directory != null) {
      ForeignDirectory.requireOwnWay(directory);
    }
    BasicFileAttributes there;
    try {
      there = Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    } catch (NoSuchFileException none) {
      return file;
    }
    if (there.isSymbolicLink()) {
      if (!FileOwner.isOwnLink(file)) {
        throw new FileSystemException(file.toString(), null, FileKind.foreignLink(file));
      }
      Path real = realPath(file);
      if (Files.isRegularFile(real, LinkOption.NOFOLLOW_LINKS)) {
        return real;
      }
      throw new FileSystemException(
          file.toString(), null, "it is a symbolic link whose target is not a regular file");
    }
    if (!there.isRegularFile()) {
      throw new FileSystemException(
          file.toString(), null, FileKind.of(there) + ", not a regular file");
    }
    return file;
  }

  private static Path realPath(Path link) throws IOException {
    try {
      return link.toRealPath();
    } catch (NoSuchFileException dangling) {
      throw new FileSystemException(
          link.toString(), null, "it is a symbolic link whose target is not a regular file");
    }
  }

  private static String shortened(Path file) {
    String name = String.valueOf(file.getFileName());
    return name.substring(0, Math.min(MOST_NAME_CHARACTERS, name.length()));
  }

  private static boolean isPosix(Path file) {
    return file.getFileSystem().supportedFileAttributeViews().contains("posix");
  }

  static String random() {
    byte[] bytes = new byte[8];
    new SecureRandom().nextBytes(bytes);
    return HexFormat.of().formatHex(bytes);
  }
}
