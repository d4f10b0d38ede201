// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.cluster;

import java.util.Comparator;
import java.util.regex.Pattern;

/// One process of a TensorFlow cluster. Tasks are ordered by job, then by index.
///
/// @param job TensorFlow's name of a group of tasks with equal roles, such as "ps"
/// @param index number within the job, from 0; a job may have gaps
public record Task(String job, int index) implements Comparable<Task> {

  private static final Pattern JOB = Pattern.compile("[a-zA-Z][_a-zA-Z0-9]*");
  private static final Comparator<Task> ORDER =
      Comparator.comparing(Task::job).thenComparingInt(Task::index);

  /// Throws `IllegalArgumentException` for a job name that is invalid in a device name, and for a
  /// negative index.
  public Task {
    if (!JOB.matcher(job).matches()) {
      throw new IllegalArgumentException(
          "job name '" + job + "' must be a letter, then letters, digits and underscores");
    }
    if (index < 0) {
      throw new IllegalArgumentException("task " + index + " of job '" + job + "' is below 0");
    }
  }

  @Override
  public int compareTo(Task other) {
    return ORDER.compare(this, other);
  }

  /// Returns the task in the format of a device name: `/job:ps/task:1`.
  @Override
  public String toString() {
    return "/job:" + job + "/task:" + index;
  }
}
