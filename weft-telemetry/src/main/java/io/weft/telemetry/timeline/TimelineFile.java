// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.timeline;

import io.weft.file.ForeignDirectory;
import io.weft.file.ForeignFile;
import io.weft.file.NewFile;
import io.weft.transport.limit.IoErrors;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The timeline files of a job, `rank-N.weft-trace` in a directory. Stateless; any thread that may
/// block.
public final class TimelineFile {

  private static final Pattern NAME = Pattern.compile("rank-(0|[1-9][0-9]{0,4})\\.weft-trace");

  private TimelineFile() {}

  /// Returns the file of one rank.
  public static Path of(Path directory, int rank) {
    return directory.resolve("rank-" + rank + ".weft-trace");
  }

  /// Checks that the directory can be written, or that it could be created, without creating it.
  /// Throws a `FileSystemException` that names the obstacle.
  public static void check(Path directory) throws IOException {
    Path there = directory.toAbsolutePath().normalize();
    while (there.getParent() != null && Files.notExists(there)) {
      there = there.getParent();
    }
    if (!Files.isDirectory(there)) {
      throw new FileSystemException(there.toString(), null, "it is not a directory");
    }
    if (!Files.isWritable(there)) {
      throw new FileSystemException(there.toString(), null, "permission denied");
    }
  }

  /// Creates the directory if it is missing, and checks that a file of this rank can be written
  /// into it. Throws a `FileSystemException` that names the obstacle.
  public static void prepare(Path directory, int rank) throws IOException {
    Path file = of(directory, rank);
    try {
      ForeignDirectory.make(directory);
    } catch (IOException refused) {
      throw new FileSystemException(directory.toString(), null, IoErrors.reason(refused));
    }
    if (NewFile.obstacle(file).isPresent()) {
      throw new FileSystemException(
          file.toString(), null, "it cannot be written: no permission, or not a regular file");
    }
    NewFile.sweep(file);
  }

  /// Returns the timelines in a directory, by rank. Throws `IOException` if the directory cannot be
  /// listed.
  public static SortedMap<Integer, Path> in(Path directory) throws IOException {
    SortedMap<Integer, Path> found = new TreeMap<>();
    for (Path entry : ForeignDirectory.entries(directory, "rank-*.weft-trace")) {
      Matcher matcher = NAME.matcher(entry.getFileName().toString());
      if (matcher.matches() && Integer.parseInt(matcher.group(1)) < TimelineFormat.MOST_RANKS) {
        found.put(Integer.parseInt(matcher.group(1)), entry);
      }
    }
    return found;
  }

  /// Opens a file for a `TimelineReader`; the caller must close it.
  public static InputStream open(Path file) throws IOException {
    return new BufferedInputStream(ForeignFile.found(file).open(), TimelineFormat.MOST_FRAME_BYTES);
  }

  static void write(
      Path directory, Timeline timeline, TimelineWriter.Owner owner, List<ClockSample> clocks)
      throws IOException {
    NewFile.write(
        of(directory, owner.rank()),
        to -> {
          var out = new BufferedOutputStream(to, TimelineFormat.MOST_FRAME_BYTES);
          TimelineWriter.write(timeline, owner, clocks, out);
          out.flush();
        });
  }
}
