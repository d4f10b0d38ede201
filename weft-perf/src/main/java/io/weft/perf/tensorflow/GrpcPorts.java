// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.tensorflow;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;

/// Ports for `GrpcServer`, which requires a port number and does not report a port of its choice.
/// The ports have no listener at this moment and are below the kernel's ephemeral ports. Safe for
/// use by any thread.
public final class GrpcPorts {

  private static final int FIRST = 20_000;
  private static final int LAST = 32_767;
  private static final List<Path> TABLES =
      List.of(Path.of("/proc/net/tcp"), Path.of("/proc/net/tcp6"));

  private GrpcPorts() {}

  /// Returns `count` distinct random ports. Throws `UncheckedIOException` if the kernel's tables
  /// are unreadable.
  public static List<Integer> free(int count) {
    Set<Integer> taken = new HashSet<>();
    for (Path table : TABLES) {
      try {
        Files.readAllLines(table).stream().skip(1).map(GrpcPorts::port).forEach(taken::add);
      } catch (NoSuchFileException e) {
        // Without IPv6 there is only the first table.
        assert !table.equals(TABLES.getFirst());
      } catch (IOException e) {
        throw new UncheckedIOException("cannot read the used ports in " + table, e);
      }
    }
    return ThreadLocalRandom.current()
        .ints(FIRST, LAST + 1)
        .distinct()
        .filter(port -> !taken.contains(port))
        .limit(count)
        .boxed()
        .toList();
  }

  /// Returns the port in a line `sl: ADDRESS:PORT` with hexadecimal numbers.
  private static int port(String line) {
    String local = line.strip().split(" +", -1)[1];
    return Integer.parseInt(local.substring(local.indexOf(':') + 1), 16);
  }
}
