// SPDX-License-Identifier: Apache-2.0
package io.weft.spark.ml;

import io.weft.Weft;
import io.weft.file.ForeignDirectory;
import io.weft.file.ScratchDirectory;
import io.weft.spark.model.TrainableModel;
import io.weft.tensor.ReduceOp;
import java.io.IOException;
import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.SparkEnv;
import org.apache.spark.deploy.SparkHadoopUtil;

/// The checkpoints of one training in a file system that all executors reach. Rank 0 writes all
/// values of the model after each epoch, and reads them when Spark runs the stage again. A
/// directory appears under its final name when it is complete; older ones are then deleted.
final class EpochCheckpoints {

  private static final String PREFIX = "epoch-";

  private final String directory;

  /// @param directory a URI of Hadoop, or the empty text for no checkpoints
  EpochCheckpoints(String directory) {
    this.directory = directory;
  }

  /// Reads the newest checkpoint on rank 0, if there is one. Returns the number of epochs that were
  /// trained, on all ranks.
  int restore(TrainableModel model, Weft weft) throws IOException, InterruptedException {
    if (directory.isEmpty()) {
      return 0;
    }
    int trained = weft.rank() == 0 ? read(model) : 0;
    return (int) RankNumbers.of(weft, "spark/epochs", ReduceOp.MAX, trained)[0];
  }

  private int read(TrainableModel model) throws IOException {
    Path root = new Path(directory);
    FileSystem files = root.getFileSystem(configuration());
    int newest = newest(files, root);
    if (newest > 0) {
      try (ScratchDirectory scratch = scratch()) {
        for (FileStatus file : files.listStatus(new Path(root, PREFIX + newest))) {
          files.copyToLocalFile(
              false,
              file.getPath(),
              new Path(scratch.path().resolve(file.getPath().getName()).toString()),
              true);
        }
        model.restore(scratch.path());
      }
    }
    return newest;
  }

  private static int newest(FileSystem files, Path root) throws IOException {
    if (!files.exists(root)) {
      return 0;
    }
    return Arrays.stream(files.listStatus(root))
        .map(file -> file.getPath().getName())
        .filter(name -> name.matches(PREFIX + "\\d{1,9}"))
        .mapToInt(name -> Integer.parseInt(name.substring(PREFIX.length())))
        .max()
        .orElse(0);
  }

  /// Writes a checkpoint, on rank 0, if there is a directory for it.
  void save(TrainableModel model, int epochs) throws IOException {
    if (directory.isEmpty()) {
      return;
    }
    Path root = new Path(directory);
    FileSystem files = root.getFileSystem(configuration());
    int before = newest(files, root);
    Path unfinished = new Path(root, "." + PREFIX + epochs);
    boolean removed = files.delete(unfinished, true);
    assert removed || !files.exists(unfinished);
    if (!files.mkdirs(unfinished)) {
      throw new IOException("cannot make the directory " + unfinished + " of checkpointDir");
    }
    try (ScratchDirectory scratch = scratch()) {
      model.save(scratch.path());
      for (java.nio.file.Path file : ForeignDirectory.entries(scratch.path(), "*")) {
        files.copyFromLocalFile(
            false,
            true,
            new Path(file.toString()),
            new Path(unfinished, file.getFileName().toString()));
      }
    }
    Path complete = new Path(root, PREFIX + epochs);
    if (!files.rename(unfinished, complete)) {
      throw new IOException("cannot rename the checkpoint " + unfinished + " to " + complete);
    }
    if (before > 0 && before != epochs) {
      boolean unused = files.delete(new Path(root, PREFIX + before), true);
    }
  }

  private static Configuration configuration() {
    return SparkHadoopUtil.get().newConfiguration(SparkEnv.get().conf());
  }

  private static ScratchDirectory scratch() throws IOException {
    return ScratchDirectory.create(
        java.nio.file.Path.of(System.getProperty("java.io.tmpdir", "/tmp")),
        "weft-spark-checkpoint");
  }
}
