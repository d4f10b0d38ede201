// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.checkpoint;

import io.weft.file.ForeignDirectory;
import io.weft.file.NewFile;
import io.weft.transport.limit.IoErrors;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The checkpoints of one run in a directory: `epoch-00003.weft` after the third epoch, the last
/// two kept. A file appears whole or not at all. Only one process and one thread may use them.
///
/// @param directory created if it does not exist
public record Checkpoints(Path directory) {

  private static final int KEPT = 2;
  private static final Pattern NAME = Pattern.compile("epoch-(\\d{5,7})\\.weft");

  /// Checks that the directory is usable and that its newest file is intact and of this run.
  /// Returns the number of epochs in that file. Removes partial files of killed processes. Throws
  /// `CheckpointException`.
  public int epochsDone(Manifest run) {
    try {
      ForeignDirectory.make(directory);
      if (!Files.isWritable(directory)) {
        throw new IOException("it is not writable");
      }
    } catch (IOException e) {
      throw new CheckpointException("--checkpoint " + directory + " cannot be used: " + reason(e));
    }
    NewFile.sweep(directory, NAME);
    Optional<Path> newest = newest();
    if (newest.isEmpty()) {
      return 0;
    }
    try {
      Manifest saved = verified(newest.get());
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
      throw damaged(newest.get(), run, e);
    }
  }

  /// Returns the manifest of an intact file. Throws `IOException` with the defect.
  private Manifest verified(Path file) throws IOException {
    Manifest saved = CheckpointFile.verified(file);
    if (!file.equals(CheckpointFile.of(directory, saved.epochs()))) {
      throw new IOException("its name does not fit its " + saved.epochs() + " epochs");
    }
    return saved;
  }

  /// Reads the newest file, which must exist, into the tensors; their names and shapes must be
  /// those of the file. Throws `CheckpointException`; the tensors are then undefined.
  ///
  /// @param stepsPerEpoch of this run
  public History restore(List<SavedTensor> tensors, int stepsPerEpoch) {
    Path file = newest().orElseThrow();
    try {
      History history = CheckpointFile.read(file, tensors);
      int steps = history.losses().size() / history.accuracies().size();
      if (steps != stepsPerEpoch) {
        throw new CheckpointException(
            "checkpoint "
                + file
                + " is of a run with "
                + steps
                + " steps an epoch, but this run has "
                + stepsPerEpoch
                + ": the data set differs; give another --checkpoint directory");
      }
      return history;
    } catch (CheckpointFile.Misfit other) {
      throw new CheckpointException(
          "checkpoint "
              + file
              + " is of another model: "
              + reason(other)
              + "; give another --checkpoint directory");
    } catch (IOException e) {
      throw damaged(file, e, "");
    }
  }

  /// Writes a new file, then removes all but the last two. Borrows the tensors. Throws
  /// `CheckpointException`; earlier files are then intact.
  public void save(Manifest manifest, History history, List<SavedTensor> tensors) {
    Path file = CheckpointFile.of(directory, manifest.epochs());
    try {
      ForeignDirectory.make(directory); // another rank may have created it
      CheckpointFile.write(file, manifest, history, tensors);
      List<Path> all = files();
      for (Path old : all.subList(0, Math.max(0, all.size() - KEPT))) {
        Files.delete(old);
      }
    } catch (IOException e) {
      throw new CheckpointException(
          "checkpoint "
              + file
              + " cannot be written: "
              + reason(e)
              + "; earlier checkpoints are intact");
    }
  }

  private Optional<Path> newest() {
    List<Path> all = files();
    return all.isEmpty() ? Optional.empty() : Optional.of(all.getLast());
  }

  private List<Path> files() {
    try {
      return ForeignDirectory.entries(directory, "*").stream()
          .filter(f -> NAME.matcher(f.getFileName().toString()).matches())
          .sorted(Comparator.comparingInt(Checkpoints::epochs))
          .toList();
    } catch (IOException e) {
      throw new CheckpointException(
          "--checkpoint " + directory + " cannot be listed: " + e.getMessage());
    }
  }

  private static int epochs(Path file) {
    Matcher name = NAME.matcher(file.getFileName().toString());
    return name.matches() ? Integer.parseInt(name.group(1)) : -1;
  }

  private CheckpointException damaged(Path file, Manifest run, IOException cause) {
    List<Path> older = files().reversed();
    String remedy = "; no other checkpoint of this run is left: move it away to start again";
    for (Path other : older.subList(1, older.size())) {
      try {
        if (verified(other).difference(run).isEmpty()) {
          remedy = "; " + other.getFileName() + " is intact: move this one away to resume from it";
          break;
        }
      } catch (IOException damagedToo) {
        remedy = "; " + other.getFileName() + " is damaged too: move both away to start again";
      }
    }
    return damaged(file, cause, remedy);
  }

  private static CheckpointException damaged(Path file, IOException cause, String remedy) {
    return new CheckpointException(
        "checkpoint "
            + file
            + (cause instanceof FileSystemException ? " cannot be read: " : " is damaged: ")
            + reason(cause)
            + remedy);
  }

  private static String reason(IOException e) {
    return IoErrors.reason(e);
  }
}
