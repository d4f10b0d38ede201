// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.checkpoint;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// The checkpoints of one run in a directory: `epoch-00003.weft` after the third epoch, the last
/// two kept. A file appears whole or not at all. One process alone reads and writes. One thread.
///
/// @param directory made if it is not there
public record Checkpoints(Path directory) {

  private static final int KEPT = 2;

  /// Looks whether the directory can be used and its newest file is of this run; returns how many
  /// epochs that has. Throws `CheckpointException`.
  public int epochsDone(Manifest run) {
    try {
      Files.createDirectories(directory);
      if (!Files.isWritable(directory)) {
        throw new IOException("it is not writable");
      }
    } catch (IOException e) {
      throw new CheckpointException("--checkpoint " + directory + " cannot be used: " + reason(e));
    }
    Optional<Path> newest = newest();
    if (newest.isEmpty()) {
      return 0;
    }
    try {
      Manifest saved = CheckpointFile.manifest(newest.get());
      Optional<String> difference = saved.difference(run);
      if (difference.isPresent()) {
        throw new CheckpointException(
            "checkpoint "
                + newest.get()
                + " is of a run with "
                + difference.get()
                + "; give the same options or another --checkpoint directory");
      }
      return saved.epochs();
    } catch (IOException e) {
      throw damaged(newest.get(), e);
    }
  }

  /// Reads the newest file, which there must be, into the tensors, whose names and shapes must be
  /// the file's. Throws `CheckpointException`; then they hold nothing useful.
  public History restore(List<SavedTensor> tensors) {
    Path file = newest().orElseThrow();
    try {
      return CheckpointFile.read(file, tensors);
    } catch (IOException e) {
      throw damaged(file, e);
    }
  }

  /// Writes a new file, then removes those that are not among the last two. Borrows the tensors.
  /// Throws `CheckpointException`; then the files before it are whole.
  public void save(Manifest manifest, History history, List<SavedTensor> tensors) {
    Path file = directory.resolve("epoch-%05d.weft".formatted(manifest.epochs()));
    Path unfinished =
        directory.resolve("." + file.getFileName() + "." + ProcessHandle.current().pid() + ".tmp");
    try {
      Files.createDirectories(directory); // another rank may have looked after it before
      Files.deleteIfExists(unfinished);
      CheckpointFile.write(unfinished, manifest, history, tensors);
      Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE);
      List<Path> all = files();
      for (Path old : all.subList(0, Math.max(0, all.size() - KEPT))) {
        Files.delete(old);
      }
    } catch (IOException e) {
      throw new CheckpointException(
          "cannot save to " + file + ": " + reason(e) + "; the checkpoints before it are whole");
    }
  }

  private Optional<Path> newest() {
    List<Path> all = files();
    return all.isEmpty() ? Optional.empty() : Optional.of(all.getLast());
  }

  private List<Path> files() {
    try (Stream<Path> all = Files.list(directory)) {
      return all.filter(f -> f.getFileName().toString().matches("epoch-\\d{5}\\.weft"))
          .sorted()
          .toList();
    } catch (IOException | UncheckedIOException e) {
      throw new CheckpointException(
          "--checkpoint " + directory + " cannot be listed: " + e.getMessage());
    }
  }

  private static CheckpointException damaged(Path file, IOException cause) {
    return new CheckpointException(
        "checkpoint "
            + file
            + " is damaged: "
            + reason(cause)
            + "; move it away to resume from the one before it, or from the start");
  }

  private static String reason(IOException e) {
    return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
  }
}
