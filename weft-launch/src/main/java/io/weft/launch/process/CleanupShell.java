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

/// A shell that waits for this process's end and then, if that was not in order, ends what it has
/// started: all members of the process groups that it was told, and all processes that carry the
/// mark in their environment, until none is left; and removes a directory. It is what remains to be
/// done when this process is killed with -9, and it has a session of its own, so that what kills
/// this process's group does not reach it. Any thread.
public final class CleanupShell implements AutoCloseable {

  /// What a process of a job carries in its environment, before the mark.
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

  /// Starts it. Where there is no shell there is no watch.
  ///
  /// @param mark the value of `VARIABLE` in the environment of what is to be ended
  /// @param directory removed then
  public static CleanupShell start(String mark, Optional<Path> directory) {
    var command = new ArrayList<String>();
    Programs.find("setsid").ifPresent(path -> command.add(path.toString()));
    command.addAll(List.of("/bin/sh", "-c", SCRIPT, "weft-watch", mark));
    command.add(directory.map(path -> path.toAbsolutePath().toString()).orElse(""));
    var builder =
        new ProcessBuilder(command)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(ProcessBuilder.Redirect.DISCARD);
    // Of nobody's mark, so that no other launcher takes it for one of its own.
    String path = System.getenv("PATH");
    builder.environment().clear();
    builder.environment().put("PATH", path == null ? "/usr/bin:/bin" : path);
    try {
      return new CleanupShell(builder.start());
    } catch (IOException none) {
      return new CleanupShell(null);
    }
  }

  /// A process whose group has to end, too, where it leads one.
  public void began(long group) {
    say("began", group);
  }

  /// The group's first process has ended, and its number may soon be another's.
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
        // Somebody has ended it; the job goes on without.
        assert !watch.isAlive() || !ended.toString().isEmpty();
      }
    }
  }

  /// All has ended in order.
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
