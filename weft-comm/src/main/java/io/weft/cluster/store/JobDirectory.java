// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import io.weft.comm.CommException;
import io.weft.file.ForeignFile;
import io.weft.transport.limit.IoErrors;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/// The directory in which the ranks of one host and job meet: `TMP/weft-USER/JOB/run-NONCE`. Rank 0
/// creates a new run directory and writes its name to the file `current`, together with the number
/// and the start time of its process. The other ranks use the directory only while that process is
/// alive, so no rank enters the remains of a crashed job of the same name. Only this user can enter
/// these directories. Creating a run directory removes those that killed processes of this user
/// have left, including their secrets.
final class JobDirectory {

  private static final String CURRENT = "current";
  private static final int MOST_BYTES = 256;
  private static final String RUN = "run-";
  private static final Duration PAUSE = Duration.ofMillis(10);
  private static final long START_TOLERANCE_MILLIS = 10_000;
  private static final Set<PosixFilePermission> OWNER_ONLY =
      Set.copyOf(
          EnumSet.of(
              PosixFilePermission.OWNER_READ,
              PosixFilePermission.OWNER_WRITE,
              PosixFilePermission.OWNER_EXECUTE));

  private final Path temporary;
  private final Path userDirectory;
  private final Path jobDirectory;

  /// The content of `current`.
  private record Run(String name, long process, long startMillis) {

    boolean lives() {
      return ProcessHandle.of(process)
          .filter(ProcessHandle::isAlive)
          .flatMap(handle -> handle.info().startInstant())
          .map(start -> Math.abs(start.toEpochMilli() - startMillis) <= START_TOLERANCE_MILLIS)
          .orElse(false);
    }

    String text() {
      return name + "\n" + process + "\n" + startMillis + "\n";
    }

    static Optional<Run> parse(String text) {
      List<String> lines = text.lines().toList();
      if (lines.size() != 3 || !lines.get(0).matches("run-[0-9a-zA-Z]+")) {
        return Optional.empty();
      }
      try {
        return Optional.of(
            new Run(lines.get(0), Long.parseLong(lines.get(1)), Long.parseLong(lines.get(2))));
      } catch (NumberFormatException notOurs) {
        return Optional.empty();
      }
    }
  }

  private JobDirectory(Path temporary, String user, String job) {
    this.temporary = temporary;
    this.userDirectory = temporary.resolve(user);
    this.jobDirectory = userDirectory.resolve(job);
  }

  /// Returns the directory of this job below `temporary`, without creating it.
  static JobDirectory of(Path temporary, String job) {
    String user = System.getProperty("user.name", "user").replaceAll("[^A-Za-z0-9._-]", "_");
    String readable = job.replaceAll("[^A-Za-z0-9_-]", "_");
    String name =
        readable.substring(0, Math.min(60, readable.length()))
            + "-"
            + String.format(Locale.ROOT, "%08x", job.hashCode());
    return new JobDirectory(temporary, "weft-" + user, name);
  }

  /// Creates a new, empty run directory, on rank 0. Throws `CommException.Setup` if another live
  /// rank 0 uses this job's name, or if another user could enter the directory.
  Path create() {
    try {
      makePrivate(userDirectory);
      makePrivate(jobDirectory);
      Optional<Run> before = current();
      if (before.isPresent() && before.get().lives()) {
        throw new CommException.Setup(
            "a job of the same name has its rank 0 in process "
                + before.get().process()
                + " ("
                + jobDirectory
                + "); give this job another WEFT_JOB",
            null);
      }
      clear();
      sweep();
      Path run = newRun();
      RunOwner.current().write(run);
      return run;
    } catch (IOException refused) {
      throw outOfReach(jobDirectory, refused);
    }
  }

  /// Creates the run directory. Tries once more if another rank 0 has just removed the empty
  /// parent.
  private Path newRun() throws IOException {
    // Java creates temporary directories with private permissions.
    try {
      return Files.createTempDirectory(jobDirectory, RUN);
    } catch (NoSuchFileException swept) {
      makePrivate(jobDirectory);
      return Files.createTempDirectory(jobDirectory, RUN);
    }
  }

  /// Publishes the run directory to the other ranks, on rank 0, when its contents are complete.
  void publish(Path run) {
    ProcessHandle self = ProcessHandle.current();
    long start = self.info().startInstant().map(Instant::toEpochMilli).orElse(0L);
    try {
      byte[] text =
          new Run(run.getFileName().toString(), self.pid(), start)
              .text()
              .getBytes(StandardCharsets.UTF_8);
      FileStore.publish(jobDirectory.resolve(CURRENT), text);
    } catch (IOException refused) {
      throw outOfReach(jobDirectory, refused);
    }
  }

  /// Waits for rank 0's run directory, on the other ranks. Throws `CommException.Setup` after
  /// `limit`.
  Path await(Duration limit) throws InterruptedException {
    Deadline deadline = Deadline.after(limit);
    while (true) {
      try {
        Optional<Run> run = isThere() ? current() : Optional.empty();
        if (run.isPresent() && run.get().lives()) {
          return jobDirectory.resolve(run.get().name());
        }
      } catch (IOException refused) {
        throw outOfReach(jobDirectory, refused);
      }
      if (deadline.passed()) {
        throw new CommException.Setup(
            "rank 0 did not arrive within "
                + deadline
                + " (no live run in "
                + jobDirectory
                + "); is it running on this host, with the same WEFT_JOB and java.io.tmpdir?",
            null);
      }
      deadline.pause(PAUSE);
    }
  }

  /// Removes everything of this job, on rank 0, at the end.
  void remove() {
    try {
      clear();
      Files.deleteIfExists(jobDirectory);
    } catch (IOException left) {
      throw outOfReach(jobDirectory, left);
    }
  }

  /// Returns whether the directories exist. Throws `CommException.Setup` if users other than this
  /// one can write to them.
  private boolean isThere() throws IOException {
    try {
      for (Path directory : List.of(userDirectory, jobDirectory)) {
        if (!Files.exists(directory, LinkOption.NOFOLLOW_LINKS)) {
          return false;
        }
        requirePrivate(directory);
      }
      return true;
    } catch (NoSuchFileException removed) {
      return false;
    }
  }

  /// Reads `current`. The caller has checked that the directories are private.
  private Optional<Run> current() throws IOException {
    return current(jobDirectory);
  }

  private static Optional<Run> current(Path job) throws IOException {
    try {
      return Run.parse(ForeignFile.found(job.resolve(CURRENT)).text(MOST_BYTES));
    } catch (NoSuchFileException notYet) {
      return Optional.empty();
    }
  }

  /// Removes, as far as possible, the runs of this user's other jobs whose rank 0 has certainly
  /// ended.
  private void sweep() {
    try (var jobs = Files.newDirectoryStream(userDirectory)) {
      for (Path job : jobs) {
        if (!job.equals(jobDirectory) && Files.isDirectory(job, LinkOption.NOFOLLOW_LINKS)) {
          sweep(job);
        }
      }
    } catch (IOException | DirectoryIteratorException elsewhere) {
      // Another rank 0 was faster, or this process may not remove the entry.
      assert !elsewhere.toString().isEmpty();
    }
  }

  private static void sweep(Path job) throws IOException {
    boolean left = false;
    try (var runs = Files.newDirectoryStream(job, RUN + "*")) {
      for (Path run : runs) {
        if (RunOwner.of(run).filter(RunOwner::hasEnded).isPresent()) {
          removeAllIn(run);
          Files.deleteIfExists(run);
        } else {
          left = true;
        }
      }
    }
    if (!left) {
      try {
        // A new rank 0 may have written the pointer since. Its run directory exists in that case.
        Optional<Run> pointed = current(job);
        if (pointed.isPresent() && !Files.exists(job.resolve(pointed.get().name()))) {
          Files.deleteIfExists(job.resolve(CURRENT));
        }
        Files.deleteIfExists(job);
      } catch (DirectoryNotEmptyException inUse) {
        // The directory is in use and stays.
        assert inUse.getFile() != null;
      }
    }
  }

  /// Removes everything of this job, the pointer first, so that no rank enters a directory that is
  /// being removed.
  private void clear() throws IOException {
    Files.deleteIfExists(jobDirectory.resolve(CURRENT));
    removeAllIn(jobDirectory);
  }

  private static void removeAllIn(Path directory) throws IOException {
    try (Stream<Path> all = Files.walk(directory)) {
      for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
        if (!path.equals(directory)) {
          Files.deleteIfExists(path);
        }
      }
    }
  }

  private void makePrivate(Path directory) throws IOException {
    try {
      if (posix()) {
        Files.createDirectory(directory, PosixFilePermissions.asFileAttribute(OWNER_ONLY));
      } else {
        Files.createDirectory(directory);
      }
    } catch (FileAlreadyExistsException there) {
      if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
        throw there;
      }
    }
    requirePrivate(directory);
  }

  private boolean posix() throws IOException {
    return Files.getFileStore(temporary).supportsFileAttributeView(PosixFileAttributeView.class);
  }

  /// Checks that the directory is private, because another user may have created it first in a
  /// temporary directory that all users can write to.
  private void requirePrivate(Path directory) throws IOException {
    if (!posix()) {
      return;
    }
    Path own = Files.createTempFile(temporary, "weft-owner-", "");
    try {
      var owner = Files.getOwner(own, LinkOption.NOFOLLOW_LINKS);
      var permissions = Files.getPosixFilePermissions(directory, LinkOption.NOFOLLOW_LINKS);
      if (!Files.getOwner(directory, LinkOption.NOFOLLOW_LINKS).equals(owner)
          || !OWNER_ONLY.containsAll(permissions)) {
        throw new CommException.Setup(
            "directory "
                + directory
                + " must belong only to this user (mode 700), but it belongs to "
                + Files.getOwner(directory, LinkOption.NOFOLLOW_LINKS)
                + " with mode "
                + PosixFilePermissions.toString(permissions)
                + "; remove it, or set -Djava.io.tmpdir to your own directory",
            null);
      }
    } finally {
      Files.deleteIfExists(own);
    }
  }

  private static CommException.Setup outOfReach(Path directory, IOException cause) {
    return new CommException.Setup(
        "the ranks of this host cannot meet in "
            + directory
            + ": "
            + IoErrors.words(cause)
            + "; set -Djava.io.tmpdir to a directory that this user can write to",
        cause);
  }
}
