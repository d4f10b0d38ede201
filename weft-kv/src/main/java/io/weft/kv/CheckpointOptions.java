// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import java.nio.file.Path;
import java.time.Duration;

/// Where checkpoints are, and how they are made; the same on all workers.
///
/// @param directory that all servers, and the workers that ask, reach under this name
/// @param job what its user calls it: a checkpoint of another one is refused; one line
/// @param keep so many of the last are kept, with those that they need
/// @param fullEvery so many follow one another of which only the first has all rows; 1 = each has
/// @param limit how long it may take
public record CheckpointOptions(
    Path directory, String job, int keep, int fullEvery, Duration limit) {

  private static final int KEEP = 3;
  private static final int FULL_EVERY = 8;

  /// Throws `IllegalArgumentException` with what is wrong.
  public CheckpointOptions {
    directory = directory.toAbsolutePath().normalize();
    if (keep < 1 || fullEvery < 1) {
      throw new IllegalArgumentException(
          "keep the last %d checkpoints, every %dth of all rows; at least 1 each"
              .formatted(keep, fullEvery));
    }
    if (!limit.isPositive()) {
      throw new IllegalArgumentException("a checkpoint within " + limit + "; give it some time");
    }
    if (directory.toString().indexOf('\n') >= 0 || job.indexOf('\n') >= 0) {
      throw new IllegalArgumentException("a directory or a job's name of more than one line");
    }
  }

  /// In this directory, of a job without a name; the last 3 are kept, every 8th has all rows, and
  /// each may take 10 minutes.
  public static CheckpointOptions in(Path directory) {
    return new CheckpointOptions(directory, "", KEEP, FULL_EVERY, Duration.ofMinutes(10));
  }

  /// The same of a job of this name.
  public CheckpointOptions named(String name) {
    return new CheckpointOptions(directory, name, keep, fullEvery, limit);
  }

  /// The same with so many kept.
  public CheckpointOptions keeping(int last) {
    return new CheckpointOptions(directory, job, last, fullEvery, limit);
  }

  /// The same with all rows in each that is so many behind the last of that kind.
  public CheckpointOptions withFullEvery(int count) {
    return new CheckpointOptions(directory, job, keep, count, limit);
  }

  /// The same with another limit.
  public CheckpointOptions within(Duration other) {
    return new CheckpointOptions(directory, job, keep, fullEvery, other);
  }
}
