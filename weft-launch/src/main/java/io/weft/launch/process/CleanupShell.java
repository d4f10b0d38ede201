// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.process;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// A shell that waits for the end of this process. If the process did not end in order, the shell
/// ends its descendants until none is left, and removes a directory. Descendants are all members of
/// the registered process groups and all processes with the mark in their environment. The shell
/// thus cleans up after kill -9. It has a separate session, so that a signal to this process's
/// group does not reach it. Any thread.
public final class CleanupShell implements AutoCloseable {

  /// The environment variable of a job's processes whose value is the mark.
  public static final String VARIABLE = "WEFT_LAUNCHER";

  private static final String SCRIPT =
      """
      trap '' HUP INT QUIT TERM PIPE
      groups=
      while read -r word group; do
        kept=
        for other in $groups; do
          [ "$other" = "$group" ] || kept="$kept $other"
        done
        groups=$kept
        [ "$word" = ended ] || groups="$groups $group"
      done
      round=0
      while [ $round -lt 100 ]; do
        left=
        for group in $groups; do
          kill -s KILL -- "-$group" 2>/dev/null && left=1
        done
        for file in $(grep -lsF "%s=$1" /proc/[0-9]*/environ); do
          pid=${file#/proc/}
          kill -s KILL "${pid%%/environ}" 2>/dev/null && left=1
        done
        [ -z "$left" ] && break
        round=$((round + 1))
        sleep 0.05 2>/dev/null || sleep 1
      done
      [ -n "$2" ] && rm -rf -- "$2"
      """
          .formatted(VARIABLE);

  private final @Nullable Process watch;

  private CleanupShell(@Nullable Process watch) {
    this.watch = watch;
  }

  /// Starts the shell. On a system without a shell, this returns an object without effect.
  ///
  /// @param mark the value of `VARIABLE` in the environment of the processes to end
  /// @param directory the directory to remove
  public static CleanupShell start(String mark, Optional<Path> directory) {
    var command = new ArrayList<String>();
    Programs.find("setsid").ifPresent(path -> command.add(path.toString()));
    command.addAll(List.of("/bin/sh", "-c", SCRIPT, "weft-watch", mark));
    command.add(directory.map(path -> path.toAbsolutePath().toString()).orElse(""));
    var builder =
        new ProcessBuilder(command)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(ProcessBuilder.Redirect.DISCARD);
    // Without a mark, so that no other launcher ends this shell.
    String path = System.getenv("PATH");
    builder.environment().clear();
    builder.environment().put("PATH", path == null ? "/usr/bin:/bin" : path);
    try {
      return new CleanupShell(builder.start());
    } catch (IOException none) {
      return new CleanupShell(null);
    }
  }

  /// Registers a process, whose group the shell must end if the process leads one.
  public void began(long group) {
    say("began", group);
  }

  /// Removes a group whose first process has ended, because its number may soon be reused.
  public void ended(long group) {
    say("ended", group);
  }

  private void say(String word, long group) {
    if (watch != null) {
      try {
        OutputStream groups = watch.getOutputStream();
        groups.write((word + " " + group + "\n").getBytes(StandardCharsets.US_ASCII));
        groups.flush();
      } catch (IOException ended) {
        // The shell was ended from outside; the job continues without it.
        assert !watch.isAlive() || !ended.toString().isEmpty();
      }
    }
  }

  /// Ends the shell without cleanup.
  @Override
  public void close() {
    if (watch != null) {
      watch.destroyForcibly();
      try {
        watch.getOutputStream().close();
      } catch (IOException ended) {
        assert !ended.toString().isEmpty();
      }
    }
  }
}
