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

/// The tasks of a TensorFlow cluster and their addresses.
///
/// @param addresses HOST:PORT of each task, in the order of tasks; unmodifiable
public record ClusterSpec(SortedMap<Task, String> addresses) {

  private static final Pattern ADDRESS =
      Pattern.compile("(\\[[0-9a-fA-F:.%]+]|[^\\s:\\[\\]]+):(?<port>[0-9]{1,5})");

  /// Throws `IllegalArgumentException` for an empty cluster. Also throws it, with the task's name,
  /// if an address is not HOST:PORT or belongs to two tasks.
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

  /// Creates a cluster from the addresses of each job's tasks, in the order of their indices.
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

  /// Returns all tasks, by job and index.
  public List<Task> tasks() {
    return List.copyOf(addresses.keySet());
  }

  /// Returns the tasks of one job by index, or an empty list for an unknown job.
  public List<Task> tasks(String job) {
    return addresses.keySet().stream().filter(task -> task.job().equals(job)).toList();
  }

  /// Returns the task for one-time work such as the initialization of variables: the first task of
  /// job `chief`, or else of `worker`, or else of a job other than `ps`.
  public Task chief() {
    return Stream.of("chief", "worker")
        .flatMap(job -> tasks(job).stream())
        .findFirst()
        .or(() -> tasks().stream().filter(task -> !task.job().equals("ps")).findFirst())
        .orElseGet(() -> tasks().getFirst());
  }

  /// Returns whether `task` belongs to the cluster.
  public boolean contains(Task task) {
    return addresses.containsKey(task);
  }

  /// Returns the address of `task` as HOST:PORT. Throws `IllegalArgumentException`, which names all
  /// tasks, for an unknown task.
  public String address(Task task) {
    String address = addresses.get(task);
    if (address == null) {
      throw unknown(task);
    }
    return address;
  }

  /// Returns `task`. Throws `IllegalArgumentException`, which names all tasks, for an unknown task.
  public Task require(Task task) {
    if (!contains(task)) {
      throw unknown(task);
    }
    return task;
  }

  /// Returns the tasks without addresses.
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
