// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.checkpoint;

import io.weft.file.ForeignDirectory;
import io.weft.file.ForeignFile;
import io.weft.file.NewFile;
import io.weft.kv.checkpoint.ShardFile.Content;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// The checkpoints of a job in one directory. Each has a subdirectory `checkpoint-NNNNNN` and is
/// finished when that contains a manifest. Runs on the calling thread, which may block.
public final class CheckpointDirectory {

  private static final Pattern NUMBERED = Pattern.compile("checkpoint-(\\d{6,10})");
  private static final Pattern MEMBER =
      Pattern.compile("manifest|table-\\d+-shard-\\d+|\\..*\\.tmp");
  private static final int MOST_CHAIN = 10_000;

  private final Path path;
  private final String job;

  /// @param job the name of the job; checkpoints of another job are refused
  public CheckpointDirectory(Path path, String job) {
    this.path = path.toAbsolutePath().normalize();
    this.job = job;
  }

  /// Returns the directory of a checkpoint.
  public Path of(int number) {
    return path.resolve("checkpoint-%06d".formatted(number));
  }

  /// Returns the numbers of all checkpoints that were begun, ascending.
  public List<Integer> numbers() throws IOException {
    List<Integer> numbers = new ArrayList<>();
    if (!Files.isDirectory(path)) {
      return numbers;
    }
    for (Path entry : ForeignDirectory.entries(path, "checkpoint-*")) {
      Matcher name = NUMBERED.matcher(entry.getFileName().toString());
      long number = name.matches() ? Long.parseLong(name.group(1)) : 0;
      if (number > 0
          && number <= Integer.MAX_VALUE
          && of((int) number).getFileName().equals(entry.getFileName())
          && Files.isDirectory(entry, LinkOption.NOFOLLOW_LINKS)) {
        numbers.add((int) number);
      }
    }
    numbers.sort(Comparator.naturalOrder());
    return numbers;
  }

  /// Returns whether a checkpoint of this number was finished.
  public boolean isFinished(int number) {
    return Files.isRegularFile(
        of(number).resolve(CheckpointManifest.NAME), LinkOption.NOFOLLOW_LINKS);
  }

  /// Creates the directory of the next checkpoint and returns its number. Throws a
  /// `FileSystemException` with the reason, also if the last checkpoint belongs to another job,
  /// because that job would lose its checkpoints.
  public int begin() throws IOException {
    try {
      ForeignDirectory.make(path);
    } catch (FileAlreadyExistsException file) {
      throw wrong(path, "it is not a directory, and checkpoints need one");
    } catch (AccessDeniedException denied) {
      throw wrong(path, "checkpoints cannot be written there: permission denied");
    } catch (FileSystemException other) {
      String reason = other.getReason();
      throw wrong(
          path,
          "checkpoints cannot be written there: the directory cannot be made"
              + (reason == null ? "" : ": " + reason));
    }
    List<Integer> there = numbers();
    checkOwner(there);
    int number = there.isEmpty() ? 0 : there.getLast();
    while (number < Integer.MAX_VALUE) {
      number++;
      try {
        Files.createDirectory(of(number));
        return number;
      } catch (FileAlreadyExistsException another) {
        // created by another worker, or an unrelated file
      }
    }
    throw wrong(
        of(number), "no checkpoint can have a larger number; move this one to another directory");
  }

  /// Checks that the last readable checkpoint belongs to this job.
  private void checkOwner(List<Integer> there) throws IOException {
    for (int number : there.reversed()) {
      String other = jobOf(number);
      if (other != null && !other.equals(job)) {
        throw wrong(
            path,
            "it has checkpoints of the job '%s', and this is '%s'; give each job its own directory"
                .formatted(other, job));
      }
      if (other != null) {
        return;
      }
    }
  }

  /// Returns the job of a checkpoint, or null if the checkpoint is unfinished or torn.
  private @Nullable String jobOf(int number) throws IOException {
    try {
      return CheckpointManifest.parse(
              ForeignFile.found(file(number)).bytes(CheckpointManifest.MAX_BYTES))
          .job();
    } catch (NoSuchFileException | IllegalArgumentException unusable) {
      return null;
    }
  }

  private Path file(int number) {
    return of(number).resolve(CheckpointManifest.NAME);
  }

  /// Writes the manifest, which finishes the checkpoint.
  public void finish(CheckpointManifest manifest) throws IOException {
    Path directory = of(manifest.number());
    ForeignDirectory.force(directory);
    NewFile.write(directory.resolve(CheckpointManifest.NAME), manifest.encode());
    ForeignDirectory.force(directory);
    ForeignDirectory.force(path);
  }

  /// Reads the manifest of a checkpoint. Throws a `FileSystemException` if it is unusable.
  public CheckpointManifest manifest(int number) throws IOException {
    Path file = file(number);
    CheckpointManifest read;
    try {
      read = CheckpointManifest.parse(ForeignFile.found(file).bytes(CheckpointManifest.MAX_BYTES));
    } catch (NoSuchFileException unfinished) {
      throw new FileSystemException(
          file.toString(), null, "there is none: the checkpoint was not finished");
    } catch (IllegalArgumentException wrong) {
      throw new FileSystemException(file.toString(), null, wrong.getMessage());
    }
    if (!read.job().equals(job)) {
      throw new FileSystemException(
          file.toString(), null, "it is of the job '%s', expected '%s'".formatted(read.job(), job));
    }
    if (read.number() != number) {
      throw new FileSystemException(
          file.toString(),
          null,
          "it is of checkpoint %d, expected %d".formatted(read.number(), number));
    }
    return read;
  }

  /// Returns a checkpoint and the earlier checkpoints that it depends on, the oldest first. For
  /// each table and shard it includes all checkpoints since the last file that contains all rows.
  public List<CheckpointManifest> chain(int number) throws IOException {
    List<CheckpointManifest> chain = new ArrayList<>();
    CheckpointManifest last = manifest(number);
    chain.add(last);
    Set<String> open = changed(last, null);
    CheckpointManifest at = last;
    while (!open.isEmpty()) {
      if (at.base() <= 0 || at.base() >= at.number() || chain.size() > MOST_CHAIN) {
        throw new FileSystemException(
            of(at.number()).toString(), null, "it needs a checkpoint before it, and names none");
      }
      at = manifest(at.base());
      if (at.shards() != last.shards()) {
        throw new FileSystemException(
            of(at.number()).toString(),
            null,
            "it has %d shards, expected %d".formatted(at.shards(), last.shards()));
      }
      chain.addFirst(at);
      open = changed(at, open);
    }
    return chain;
  }

  /// Returns the files that contain only changed rows, among those given.
  private static Set<String> changed(CheckpointManifest manifest, @Nullable Set<String> among) {
    Set<String> names = new HashSet<>();
    for (CheckpointManifest.File each : manifest.files()) {
      if (each.content() == Content.CHANGED && (among == null || among.contains(each.name()))) {
        names.add(each.name());
      }
    }
    return names;
  }

  /// Reads all files of a checkpoint and of the checkpoints that it depends on, and compares them
  /// with the manifests. Throws a `FileSystemException` that names the first torn or altered file.
  public void verify(int number) throws IOException {
    for (CheckpointManifest each : chain(number)) {
      for (CheckpointManifest.File file : each.files()) {
        read(each, file, block -> {});
      }
    }
  }

  /// A visitor of a file's blocks.
  @FunctionalInterface
  public interface BlockVisitor {

    /// Visits a block, which is borrowed for the call.
    void block(Block block) throws IOException;
  }

  /// Reads one file and visits its blocks. Each visited block is intact, but the file as a whole is
  /// verified only at its end. Callers that need this earlier must call `verify` first.
  public ShardFile read(
      CheckpointManifest manifest, CheckpointManifest.File file, BlockVisitor visitor)
      throws IOException {
    Path path = of(manifest.number()).resolve(file.name());
    if (file.table() >= manifest.tables().size()) {
      throw wrong(path, "table " + file.table() + " of " + manifest.tables().size());
    }
    try (var reader = new ShardFileReader(path)) {
      long length = Files.size(path);
      if (length != file.bytes()) {
        throw wrong(path, "it has %d bytes, expected %d".formatted(length, file.bytes()));
      }
      ShardFile header = reader.header();
      CheckpointManifest.Table table = manifest.tables().get(file.table());
      if (!header.checkpoint().equals(manifest.id())
          || header.shard() != file.shard()
          || header.content() != file.content()
          || !header.spec().equals(table.spec())) {
        throw wrong(
            path,
            "at offset 0: it is of checkpoint %s, shard %d, %s, expected %s, shard %d, %s, and the same table"
                .formatted(
                    header.checkpoint(),
                    header.shard(),
                    header.content(),
                    manifest.id(),
                    file.shard(),
                    file.content()));
      }
      Block block = reader.next();
      while (block != null) {
        visitor.block(block);
        block = reader.next();
      }
      if (reader.checksum() != file.checksum()) {
        throw wrong(
            path,
            "its checksum is %08x, expected %08x".formatted(reader.checksum(), file.checksum()));
      }
      return header;
    } catch (NoSuchFileException missing) {
      throw wrong(path, "it is not there, and the manifest names it");
    }
  }

  private static FileSystemException wrong(Path path, String why) {
    return new FileSystemException(path.toString(), null, why);
  }

  /// Removes the finished checkpoints that neither belong to the last `keep` nor are needed by
  /// them, and the unfinished checkpoints that were begun before the last finished one.
  public void prune(int keep) throws IOException {
    List<Integer> all = numbers();
    List<Integer> finished = all.stream().filter(this::isFinished).toList();
    Set<Integer> needed = new HashSet<>();
    for (int number : finished.subList(Math.max(0, finished.size() - keep), finished.size())) {
      needed.add(number);
      try {
        chain(number).forEach(it -> needed.add(it.number()));
      } catch (FileSystemException unusable) {
        // Unusable, but removed only when it is old.
        needed.add(number);
      }
    }
    for (int number : all) {
      if (!needed.contains(number) && !finished.isEmpty() && number < finished.getLast()) {
        remove(of(number));
      }
    }
  }

  /// Removes a checkpoint. The manifest is removed first, so that a partly removed checkpoint is
  /// not finished.
  private static void remove(Path directory) throws IOException {
    Files.deleteIfExists(directory.resolve(CheckpointManifest.NAME));
    for (Path entry : ForeignDirectory.entries(directory, "*")) {
      if (MEMBER.matcher(entry.getFileName().toString()).matches()) {
        Files.deleteIfExists(entry);
      }
    }
    if (!ForeignDirectory.entries(directory, "*").isEmpty()) {
      return; // it contains unrelated files
    }
    Files.deleteIfExists(directory);
  }
}
