// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.perf.sendrecv;

import io.weft.launch.perf.process.PerfException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;

/// Ports that nobody uses at this moment: a server of TensorFlow takes a number, and does not tell
/// one that it has chosen. Below those that the kernel gives to callers.
final class FreePorts {

  private static final int FIRST = 20_000;
  private static final int LAST = 32_767;
  private static final List<Path> TABLES =
      List.of(Path.of("/proc/net/tcp"), Path.of("/proc/net/tcp6"));

  /// `sl: ADDRESS:PORT`, all numbers in base 16.
  private static final int LOCAL_ADDRESS = 1;

  private FreePorts() {}

  /// Different ones. Throws `PerfException.Failed` if the kernel's tables cannot be read.
  static List<Integer> find(int count) {
    Set<Integer> taken = new HashSet<>();
    for (Path table : TABLES) {
      try {
        Files.readAllLines(table).stream().skip(1).map(FreePorts::port).forEach(taken::add);
      } catch (NoSuchFileException e) {
        // Without IPv6 there is one table.
      } catch (IOException e) {
        throw new PerfException.Failed("cannot read which ports are taken in " + table, e);
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

  private static int port(String line) {
    String local = line.strip().split(" +", -1)[LOCAL_ADDRESS];
    return Integer.parseInt(local.substring(local.indexOf(':') + 1), 16);
  }
}
