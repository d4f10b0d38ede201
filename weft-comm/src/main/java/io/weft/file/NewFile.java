// SPDX-License-Identifier: Apache-2.0
package io.weft.file;

import io.weft.transport.limit.Refusal;
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

/// A file that is being written, beside the one that it will be: under a name that nobody can
/// foresee and that was not there before, so that no link which others have put there leads it
/// elsewhere. It appears under its own name whole or not at all. Its writer keeps it locked; so
/// what a killed process has left can be told from what another one writes just now, and is removed
/// by `sweep`. Owned; one thread.
public final class NewFile implements AutoCloseable {

  private static final Set<OpenOption> NEW =
      Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
  private static final FileAttribute<?> OWNER_ONLY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  /// Tells the files of this process, which loses its lock on one if it looks at it again.
  static final String PROCESS = random();

  private static final Pattern UNFINISHED =
      Pattern.compile("\\.(.+)\\.([0-9a-f]{16})-[0-9a-f]{16}\\.tmp");

  /// Of the name, so that what is added to it fits into the 255 bytes that a name may have.
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

  /// Begins `file`, which keeps its permissions if it is there already and belongs to this user or
  /// root. Throws `IOException` where something else than a regular file is there; a symbolic link
  /// is followed if it and the directory that it lies in belong to this user or root.
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

  /// Why `begin` would be refused by now, for a message that names the file; empty where the
  /// directory can be written, and no directory, device or pipe is there.
  public static Optional<String> obstacle(Path file) {
    Path directory;
    try {
      directory = target(file.toAbsolutePath()).getParent();
    } catch (IOException refused) {
      return Optional.of(Refusal.reason(refused));
    }
    if (directory == null || !Files.isDirectory(directory)) {
      return Optional.of("there is no directory " + directory);
    }
    return Files.isWritable(directory)
        ? Optional.empty()
        : Optional.of("permission denied in the directory " + directory);
  }

  /// Begins `file` so that only its owner can read it. A file that is there is replaced.
  public static NewFile beginPrivate(Path file) throws IOException {
    Path target = file.toAbsolutePath();
    Path directory = target.getParent();
    if (directory != null) {
      ForeignDirectory.requireOwnWay(directory);
    }
    return begin(
        target, isPosix(target) ? new FileAttribute<?>[] {OWNER_ONLY} : new FileAttribute<?>[0]);
  }

  /// Writes the whole of `file`, down to the disk. Throws a `FileSystemException` that names it.
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

  /// What goes into a file.
  @FunctionalInterface
  public interface Content {

    /// Writes it.
    void writeTo(OutputStream out) throws IOException;
  }

  /// The same for what is written bit by bit; `content` buffers.
  public static void write(Path file, Content content) throws IOException {
    Objects.requireNonNull(content, "content");
    try (NewFile begun = begin(file)) {
      content.writeTo(begun.stream());
      begun.publishDurably();
    } catch (IOException refused) {
      if (refused instanceof FileSystemException named && file.toString().equals(named.getFile())) {
        throw named;
      }
      var named = new FileSystemException(file.toString(), null, Refusal.reason(refused));
      named.initCause(refused);
      throw named;
    }
  }

  /// Writes a file that only its owner can read and that must not be there yet, under its own name.
  /// Throws `FileAlreadyExistsException` where something is there.
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

  /// Where it is written; not buffered. Closed with this.
  public OutputStream stream() {
    return Channels.newOutputStream(channel);
  }

  /// Gives it its name.
  public void publish() throws IOException {
    Files.move(
        unfinished, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    published = true;
  }

  /// Gives it its name when all of it is on the disk.
  public void publishDurably() throws IOException {
    channel.force(true);
    publish();
  }

  /// Removes it unless it was published.
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

  /// Removes what killed processes have left of files in this directory whose whole names match.
  /// What cannot be removed stays.
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
      // Nothing here is this user's to remove.
      assert !unreadable.toString().isEmpty();
    }
  }

  /// Removes what killed processes have left of this file.
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
      // Another process is faster, or it is not ours to remove.
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
    throw new FileSystemException(target.toString(), null, "others remove it as it is begun");
  }

  /// False if somebody who sweeps was here between the making and the locking.
  static boolean isLocked(FileChannel channel, Path unfinished) {
    try {
      return channel.tryLock() != null && Files.exists(unfinished, LinkOption.NOFOLLOW_LINKS);
    } catch (IOException noLocks) {
      return true; // on this file system; so nobody who sweeps can lock it either
    }
  }

  /// The file that is replaced.
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
          file.toString(), null, "it is a symbolic link to something that is no regular file");
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
          link.toString(), null, "it is a symbolic link to something that is no regular file");
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
