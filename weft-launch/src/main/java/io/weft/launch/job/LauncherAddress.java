// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.job;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/// Where the launcher keeps the store: at the address in the settings; else on loopback when all
/// ranks are here; else at this host's address towards the first other host.
final class LauncherAddress {

  private static final int ANY_PORT = 9;

  private LauncherAddress() {}

  static InetAddress of(JobPlan plan) throws JobFailed {
    Optional<String> given =
        plan.config().store().map(store -> store.substring(0, store.lastIndexOf(':')));
    try {
      if (given.isPresent()) {
        return InetAddress.getByName(given.get().replaceAll("[\\[\\]]", ""));
      }
      Optional<String> other =
          plan.ranks().stream().filter(rank -> !rank.isHere()).map(Placement::host).findFirst();
      return other.isEmpty()
          ? InetAddress.getLoopbackAddress()
          : towards(sshName(other.get(), plan.ssh()));
    } catch (IOException unknown) {
      throw new JobFailed(
          "cannot tell at which address of this host the other hosts reach it ("
              + unknown
              + "); say so with --store ADDRESS:PORT",
          unknown);
    }
  }

  /// 0 = a free one.
  static int port(JobPlan plan) {
    return plan.config()
        .store()
        .map(store -> Integer.parseInt(store.substring(store.lastIndexOf(':') + 1)))
        .orElse(0);
  }

  /// Sends nothing: connecting a datagram socket only asks the routing table.
  private static InetAddress towards(String host) throws IOException {
    try (var socket = new DatagramSocket()) {
      socket.connect(new InetSocketAddress(InetAddress.getByName(host), ANY_PORT));
      return socket.getLocalAddress();
    }
  }

  /// What ssh's configuration makes of a host's name.
  private static String sshName(String host, List<String> ssh) throws IOException {
    var command = new ArrayList<>(ssh);
    command.addAll(List.of("-G", "--", host));
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    try (var lines = process.inputReader(StandardCharsets.UTF_8)) {
      Optional<String> name =
          lines
              .lines()
              .filter(line -> line.startsWith("hostname "))
              .map(line -> line.substring("hostname ".length()).strip())
              .findFirst();
      if (!process.waitFor(10, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
      return name.orElse(host);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new UnknownHostException("interrupted while asking ssh for " + host);
    }
  }
}
