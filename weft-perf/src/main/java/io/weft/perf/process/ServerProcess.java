// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;

/// A server process with this JVM's program, flags and class path. It ends with this process in all
/// cases because its standard input is then closed.
public final class ServerProcess implements AutoCloseable {

  private static final int START_SECONDS = 60;
  private static final int END_SECONDS = 20;

  private final Process process;

  private ServerProcess(Process process) {
    this.process = process;
  }

  /// Starts a server's program with `arguments`.
  public static ServerProcess start(Class<?> program, String... arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), program.getName()));
    command.addAll(List.of(arguments));
    return new ServerProcess(
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
  }

  /// Returns the server's port. Throws `IllegalStateException` if the server does not print it
  /// within a minute.
  public int port() {
    String line =
        CompletableFuture.supplyAsync(this::firstLine, ServerProcess::onThread)
            .completeOnTimeout("", START_SECONDS, TimeUnit.SECONDS)
            .join();
    if (!line.matches("[0-9]+")) {
      throw new IllegalStateException(
          "the server printed '%s' instead of its port within %d s".formatted(line, START_SECONDS));
    }
    return Integer.parseInt(line);
  }

  /// Calls `action` with the exit status on another thread when the server has ended.
  public void onExit(IntConsumer action) {
    Objects.requireNonNull(action);
    var unused = process.onExit().thenAccept(ended -> action.accept(ended.exitValue()));
  }

  /// Starts a separate thread, because reading a pipe blocks the thread.
  private static void onThread(Runnable reading) {
    Thread.ofPlatform().daemon().name("weft-server-port").start(reading);
  }

  private String firstLine() {
    try {
      String line = process.inputReader().readLine();
      return line == null ? "" : line;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    try {
      process.getOutputStream().close();
      if (process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
        return;
      }
    } catch (IOException e) {
      // The process is killed below.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    process.destroyForcibly();
  }
}
