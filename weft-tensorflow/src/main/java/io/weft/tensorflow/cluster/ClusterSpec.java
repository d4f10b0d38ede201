// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.cluster;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The tasks of a TensorFlow cluster, and where each listens.
///
/// @param addresses HOST:PORT of each task, in the order of tasks; not to be changed
public record ClusterSpec(SortedMap<Task, String> addresses) {

  private static final Pattern ADDRESS =
      Pattern.compile("(\\[[0-9a-fA-F:.%]+]|[^\\s:\\[\\]]+):(?<port>[0-9]{1,5})");

  /// Throws `IllegalArgumentException` naming the task if there is none, an address is not
  /// HOST:PORT, or two tasks have the same one.
  public ClusterSpec {
    if (addresses.isEmpty()) {
      throw new IllegalArgumentException("a cluster without tasks; give at least one job");
    }
    Map<String, Task> owners = new TreeMap<>();
    addresses.forEach(
        (task, address) -> {
          requireAddress(task, address);
          Task other = owners.put(address, task);
          if (other != null) {
            throw new IllegalArgumentException(
                "tasks %s and %s are both at %s".formatted(other, task, address));
          }
        });
    addresses = Collections.unmodifiableSortedMap(new TreeMap<>(addresses));
  }

  /// A cluster from the addresses of each job's tasks, in the order of their indices.
  public static ClusterSpec of(Map<String, List<String>> jobs) {
    SortedMap<Task, String> addresses = new TreeMap<>();
    jobs.forEach(
        (job, tasks) -> {
          for (int index = 0; index < tasks.size(); index++) {
            addresses.put(new Task(job, index), tasks.get(index));
          }
        });
    return new ClusterSpec(addresses);
  }

  /// All tasks, by job and index.
  public List<Task> tasks() {
    return List.copyOf(addresses.keySet());
  }

  /// The tasks of one job by index; none if there is no such job.
  public List<Task> tasks(String job) {
    return addresses.keySet().stream().filter(task -> task.job().equals(job)).toList();
  }

  /// The task that does once what one task does for all, as initializing variables: the first one
  /// of job `chief`, else of job `worker`, else of a job that is not `ps`.
  public Task chief() {
    return Stream.of("chief", "worker")
        .flatMap(job -> tasks(job).stream())
        .findFirst()
        .or(() -> tasks().stream().filter(task -> !task.job().equals("ps")).findFirst())
        .orElseGet(() -> tasks().getFirst());
  }

  /// Whether `task` belongs to it.
  public boolean contains(Task task) {
    return addresses.containsKey(task);
  }

  /// Where `task` listens, as HOST:PORT. Throws `IllegalArgumentException` with all tasks if it is
  /// none of them.
  public String address(Task task) {
    String address = addresses.get(task);
    if (address == null) {
      throw unknown(task);
    }
    return address;
  }

  /// `task` itself, if it belongs to the cluster. Throws `IllegalArgumentException` with all tasks
  /// if not.
  public Task require(Task task) {
    if (!contains(task)) {
      throw unknown(task);
    }
    return task;
  }

  /// The tasks, without addresses.
  @Override
  public String toString() {
    return tasks().stream().map(Task::toString).collect(Collectors.joining(", "));
  }

  private IllegalArgumentException unknown(Task task) {
    return new IllegalArgumentException(
        "task %s is not in the cluster, which has %s".formatted(task, this));
  }

  private static void requireAddress(Task task, String address) {
    var parts = ADDRESS.matcher(address);
    int port = parts.matches() ? Integer.parseInt(parts.group("port")) : 0;
    if (port < 1 || port > 65535) {
      throw new IllegalArgumentException(
          "address of task %s is '%s'; it must be HOST:PORT, such as 10.0.0.7:2222"
              .formatted(task, address));
    }
  }
}
