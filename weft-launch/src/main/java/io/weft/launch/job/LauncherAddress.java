// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.job;

import io.weft.cluster.StoreLocation;
import io.weft.comm.CommException;
import io.weft.launch.process.CleanupShell;
import io.weft.launch.process.JobProcesses;
import io.weft.launch.process.LocalStart;
import io.weft.launch.process.OutputLines;
import io.weft.transport.limit.IoErrors;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/// The address of the store: the address in the settings. Without one, it is loopback if all ranks
/// are on this host, and otherwise this host's address towards the first other host.
final class LauncherAddress {

  private static final int ANY_PORT = 9;

  /// The time limit of ssh, which only reads its settings and does not connect.
  private static final Duration SSH_LIMIT = Duration.ofSeconds(10);

  private static final int MOST_LINES = 10_000;

  private LauncherAddress() {}

  static InetAddress of(JobPlan plan) throws JobFailed {
    Optional<String> given =
        plan.config().store().map(store -> StoreLocation.byRankZero(store).host());
    try {
      if (given.isPresent()) {
        return InetAddress.getByName(given.get());
      }
      Optional<String> other =
          plan.ranks().stream().filter(rank -> !rank.isHere()).map(RankPlacement::host).findFirst();
      return other.isEmpty()
          ? InetAddress.getLoopbackAddress()
          : towards(sshName(other.get(), plan.ssh()));
    } catch (UnknownHostException unknown) {
      throw new CommException.Setup(
          "a host's name is not known here ("
              + unknown.getMessage()
              + "); look for a mistyped one in -H, --hostfile or --store",
          unknown);
    } catch (IOException unknown) {
      throw new JobFailed(
          "cannot tell at which address of this host the other hosts reach it ("
              + IoErrors.words(unknown)
              + "); say so with --store ADDRESS:PORT",
          unknown);
    }
  }

  /// Returns the store's port; 0 = any free port.
  static int port(JobPlan plan) {
    return plan.config().store().map(store -> StoreLocation.byRankZero(store).port()).orElse(0);
  }

  /// Returns this host's address towards another host. It sends nothing, because connecting a
  /// datagram socket only consults the routing table.
  private static InetAddress towards(String host) throws IOException {
    try (var socket = new DatagramSocket()) {
      socket.connect(new InetSocketAddress(InetAddress.getByName(host), ANY_PORT));
      return socket.getLocalAddress();
    }
  }

  /// Returns the host's name after ssh's configuration. Throws `IOException` if ssh does not answer
  /// in time.
  private static String sshName(String host, List<String> ssh) throws IOException {
    var command = new ArrayList<>(ssh);
    command.addAll(List.of("-G", "--", host));
    String mark = UUID.randomUUID().toString();
    // The shell starts before ssh, because this process may be ended at any moment.
    try (CleanupShell watch = CleanupShell.start(mark, Optional.empty())) {
      Process process =
          new LocalStart().start(command, Map.of(CleanupShell.VARIABLE, mark), List.of());
      watch.began(process.pid());
      try {
        return sshName(host, command, process);
      } finally {
        new JobProcesses(mark, List.of(process)).kill();
      }
    }
  }

  private static String sshName(String host, List<String> command, Process process)
      throws IOException {
    OutputLines words = OutputLines.of(process.inputReader(StandardCharsets.UTF_8), MOST_LINES);
    OutputLines.of(process.errorReader(StandardCharsets.UTF_8), 1);
    try {
      if (!process.waitFor(SSH_LIMIT.toSeconds(), TimeUnit.SECONDS)
          || !words.hasEnded(Duration.ofSeconds(1))) {
        throw new IOException(
            "'%s' has not ended after %d s"
                .formatted(String.join(" ", command), SSH_LIMIT.toSeconds()));
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while asking ssh for " + host);
    }
    return words.soFar().stream()
        .filter(line -> line.startsWith("hostname "))
        .map(line -> line.substring("hostname ".length()).strip())
        .findFirst()
        .orElse(host);
  }
}
