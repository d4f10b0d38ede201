// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.job;

import io.weft.comm.CommException;
import io.weft.file.ForeignDirectory;
import io.weft.file.NewFile;
import io.weft.transport.limit.IoErrors;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// The output of one rank in files. If the disk refuses bytes, this is reported once for each file,
/// and the job continues. Each stream is written by one thread.
final class KeptOutput {

  private final Optional<Path> directory;
  private final String rank;
  private final PrintStream err;

  private KeptOutput(Optional<Path> directory, String rank, PrintStream err) {
    this.directory = directory;
    this.rank = rank;
    this.err = err;
  }

  /// Creates the directory; without one, nothing is kept. Throws `CommException.Setup` if it cannot
  /// be created.
  static KeptOutput in(Optional<Path> directory, String rank, PrintStream err) {
    if (directory.isPresent()) {
      try {
        ForeignDirectory.make(directory.get());
      } catch (IOException refused) {
        throw new CommException.Setup(
            "--output-dir: the directory "
                + directory.get()
                + " cannot be made: "
                + IoErrors.reason(refused),
            refused);
      }
    }
    return new KeptOutput(directory, rank, err);
  }

  /// Creates an empty file for one of the rank's streams. It has its final name at once, because
  /// users read it while the job runs. Throws `CommException.Setup` if it cannot be created, for
  /// example because of another user's link.
  Stream stream(String name) {
    if (directory.isEmpty()) {
      return new Stream(Path.of(name), OutputStream.nullOutputStream());
    }
    Path file = directory.get().resolve(name);
    try {
      NewFile begun = NewFile.begin(file);
      try {
        begun.publish();
        return new Stream(file, begun.stream());
      } catch (IOException | RuntimeException refused) {
        begun.close();
        throw refused;
      }
    } catch (IOException refused) {
      throw new CommException.Setup(
          "--output-dir: " + file + " cannot be written: " + IoErrors.reason(refused), refused);
    }
  }

  /// Writes the rank's exit code.
  void exit(int code) {
    if (directory.isEmpty()) {
      return;
    }
    Path file = directory.get().resolve("exit");
    try {
      NewFile.write(file, (code + "\n").getBytes(StandardCharsets.US_ASCII));
    } catch (IOException refused) {
      complain(file, "its exit code, " + code + ",", refused);
    }
  }

  private void complain(Path file, String what, IOException refused) {
    err.println(
        "weft: "
            + what
            + " of "
            + rank
            + " is not kept in "
            + file
            + ": "
            + IoErrors.words(refused)
            + "; the job goes on");
  }

  final class Stream implements AutoCloseable {

    private final Path file;
    private final OutputStream to;
    private final List<IOException> refused = new ArrayList<>(1);

    private Stream(Path file, OutputStream to) {
      this.file = file;
      this.to = to;
    }

    void write(byte[] bytes, int offset, int length) {
      if (refused.isEmpty()) {
        try {
          to.write(bytes, offset, length);
        } catch (IOException full) {
          refuse(full);
        }
      }
    }

    @Override
    public void close() {
      try {
        to.close();
      } catch (IOException full) {
        if (refused.isEmpty()) {
          refuse(full);
        }
      }
    }

    private void refuse(IOException why) {
      refused.add(why);
      complain(file, "the rest of the output", why);
    }
  }
}
