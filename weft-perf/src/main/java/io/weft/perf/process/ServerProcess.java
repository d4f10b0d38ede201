// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/// A server as a process, by this JVM's program, flags and class path. It ends with this process,
/// however that ends: its standard input ends then.
public final class ServerProcess implements AutoCloseable {

  private static final int START_SECONDS = 60;
  private static final int END_SECONDS = 20;

  private final Process process;

  private ServerProcess(Process process) {
    this.process = process;
  }

  /// Starts a server's program with these arguments.
  public static ServerProcess start(Class<?> program, String... arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), program.getName()));
    command.addAll(List.of(arguments));
    return new ServerProcess(
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
  }

  /// Where it listens. Throws `IllegalStateException` if it does not say so within a minute.
  public int port() {
    String line =
        CompletableFuture.supplyAsync(this::firstLine, ServerProcess::onThread)
            .completeOnTimeout("", START_SECONDS, TimeUnit.SECONDS)
            .join();
    if (!line.matches("[0-9]+")) {
      throw new IllegalStateException(
          "the server said '%s' instead of its port within %d s".formatted(line, START_SECONDS));
    }
    return Integer.parseInt(line);
  }

  /// Of its own, since reading a pipe keeps the thread that does it.
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
      // Its end is what counts, and comes now.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    process.destroyForcibly();
  }
}
