// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;

/// The directory of checkpoints and the way in which they are created. Equal on all workers.
///
/// @param directory a path under which all servers, and the workers that use checkpoints, reach the
///   same directory
/// @param job the user's name of the job, one line; a checkpoint of another job is refused
/// @param keep the number of latest checkpoints to keep, together with the checkpoints that they
///   depend on
/// @param fullEvery the interval between checkpoints that contain all rows; 1 = each does
/// @param limit how long a checkpoint may take
/// @param tables the names of the tables that are written or restored; empty = all
public record CheckpointOptions(
    Path directory, String job, int keep, int fullEvery, Duration limit, Set<String> tables) {

  private static final int KEEP = 3;
  private static final int FULL_EVERY = 8;

  /// Throws `IllegalArgumentException` with the invalid value.
  public CheckpointOptions {
    directory = directory.toAbsolutePath().normalize();
    tables = Set.copyOf(tables);
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

  /// Returns options for this directory and a job without a name. The last 3 checkpoints are kept,
  /// every 8th contains all rows, and each may take 10 minutes.
  public static CheckpointOptions in(Path directory) {
    return new CheckpointOptions(directory, "", KEEP, FULL_EVERY, Duration.ofMinutes(10), Set.of());
  }

  /// Returns a copy with this job name.
  public CheckpointOptions named(String name) {
    return new CheckpointOptions(directory, name, keep, fullEvery, limit, tables);
  }

  /// Returns a copy that keeps the last `last` checkpoints.
  public CheckpointOptions keeping(int last) {
    return new CheckpointOptions(directory, job, last, fullEvery, limit, tables);
  }

  /// Returns a copy in which every `count`th checkpoint contains all rows.
  public CheckpointOptions withFullEvery(int count) {
    return new CheckpointOptions(directory, job, keep, count, limit, tables);
  }

  /// Returns a copy with another limit.
  public CheckpointOptions within(Duration other) {
    return new CheckpointOptions(directory, job, keep, fullEvery, other, tables);
  }

  /// Returns a copy for tables of these names only. A restore then ignores the other tables of the
  /// checkpoint and leaves the job's other tables as they are.
  public CheckpointOptions ofTables(String... names) {
    return new CheckpointOptions(directory, job, keep, fullEvery, limit, Set.of(names));
  }
}
