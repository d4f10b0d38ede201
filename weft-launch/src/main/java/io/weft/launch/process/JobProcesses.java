// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.process;

import io.weft.cluster.watch.ProcessIdentity;
import io.weft.transport.limit.ClampedDuration;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/// All processes of a job on this host: its ranks, their descendants, and orphans of ended ranks.
/// Orphans are found by the launcher's mark in their environment, if the system shows it.
public final class JobProcesses {

  private static final Path PROC = Path.of("/proc");

  /// The time that the system may take to remove killed processes.
  private static final Duration BURIAL = Duration.ofSeconds(10);

  private final byte[] mark;
  private final Collection<Process> ranks;

  /// @param mark the value of `CleanupShell.VARIABLE` in their environment
  public JobProcesses(String mark, Collection<Process> ranks) {
    this.mark = (CleanupShell.VARIABLE + "=" + mark).getBytes(StandardCharsets.UTF_8);
    this.ranks = ranks;
  }

  /// Ends all processes: sends SIGTERM, waits for the grace time, then kills the rest. Stopped
  /// processes are killed at once, because they cannot react. Returns when none is left, or after
  /// 10 s more.
  public void end(Duration grace) throws InterruptedException {
    List<ProcessHandle> alive = alive();
    for (ProcessHandle process : alive) {
      if (ProcessIdentity.of(process).isStopped()) {
        process.destroyForcibly();
      } else {
        process.destroy();
      }
    }
    if (!await(alive, grace) || !alive().isEmpty()) {
      List<ProcessHandle> deaf = alive();
      deaf.forEach(ProcessHandle::destroyForcibly);
      var unused = await(deaf, BURIAL);
    }
  }

  /// Kills all processes, without waiting for their end.
  public void kill() {
    alive().forEach(ProcessHandle::destroyForcibly);
  }

  /// Returns the live processes, except this one.
  List<ProcessHandle> alive() {
    Map<Long, ProcessHandle> alive = new LinkedHashMap<>();
    for (Process rank : ranks) {
      Stream.concat(Stream.of(rank.toHandle()), rank.descendants())
          .filter(ProcessHandle::isAlive)
          .forEach(handle -> alive.put(handle.pid(), handle));
    }
    marked().forEach(handle -> alive.put(handle.pid(), handle));
    alive.remove(ProcessHandle.current().pid());
    return List.copyOf(alive.values());
  }

  private List<ProcessHandle> marked() {
    if (!Files.isDirectory(PROC)) {
      return List.of();
    }
    try (var entries = Files.newDirectoryStream(PROC, "[0-9]*")) {
      var found = new ArrayList<ProcessHandle>();
      for (Path entry : entries) {
        if (isMarked(entry)) {
          Optional<ProcessHandle> handle =
              ProcessHandle.of(Long.parseLong(entry.getFileName().toString()));
          handle.filter(ProcessHandle::isAlive).ifPresent(found::add);
        }
      }
      return found;
    } catch (IOException | DirectoryIteratorException unreadable) {
      return List.of();
    }
  }

  private boolean isMarked(Path process) {
    byte[] environment;
    try {
      environment = Files.readAllBytes(process.resolve("environ"));
    } catch (IOException goneOrForeign) {
      return false;
    }
    for (int at = 0; at + mark.length <= environment.length; at++) {
      boolean begins = at == 0 || environment[at - 1] == 0;
      if (begins && Arrays.equals(environment, at, at + mark.length, mark, 0, mark.length)) {
        return true;
      }
    }
    return false;
  }

  private static boolean await(List<ProcessHandle> handles, Duration limit)
      throws InterruptedException {
    CompletableFuture<?>[] exits =
        handles.stream().map(ProcessHandle::onExit).toArray(CompletableFuture<?>[]::new);
    try {
      CompletableFuture.allOf(exits).get(ClampedDuration.millis(limit), TimeUnit.MILLISECONDS);
      return true;
    } catch (ExecutionException | TimeoutException stillThere) {
      return false;
    }
  }
}
