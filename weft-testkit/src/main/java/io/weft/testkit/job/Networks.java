// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.job;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// Two network namespaces of this machine, near and far, which programs see as two hosts. A third
/// namespace between them forwards packets until the two are parted. It requires root. `close`
/// removes the namespaces, and so does the end of this process.
public final class Networks implements AutoCloseable {

  private static final int LIMIT_SECONDS = 20;

  private final String name;
  private final Path ssh;
  private final AtExit onExit;

  private Networks(String name, Path ssh) {
    this.name = name;
    this.ssh = ssh;
    this.onExit = new AtExit("weft-networks", this::remove);
  }

  /// Creates the namespaces, and in `directory` a replacement for ssh that starts programs in the
  /// far one. Throws `IOException` with the system's message if that is not possible.
  public static Networks create(Path directory) throws IOException, InterruptedException {
    String name = "weft" + ProcessHandle.current().pid();
    Path ssh = directory.resolve("ssh");
    Files.writeString(
        ssh,
        """
        #!/bin/sh
        # Replaces ssh: `ssh [-G] [options] -- HOST COMMAND`, where HOST is a network namespace.
        while [ "$1" != -- ]; do
          [ "$1" = -G ] && { echo "hostname 10.77.2.2"; exit; }
          shift
        done
        exec ip netns exec "$2" unshare --uts sh -c 'hostname "$0"; exec /bin/sh -c "$1"' "$2" "$3"
        """);
    Files.setPosixFilePermissions(ssh, PosixFilePermissions.fromString("rwx------"));
    var networks = new Networks(name, ssh);
    networks.remove();
    try {
      networks.build();
    } catch (IOException refused) {
      networks.close();
      throw refused;
    }
    return networks;
  }

  private void build() throws IOException, InterruptedException {
    for (String end : List.of("a", "b", "m")) {
      run("ip", "netns", "add", name + end);
      in(end, "ip", "link", "set", "lo", "up");
    }
    for (String end : List.of("a", "b")) {
      String net = end.equals("a") ? "10.77.1." : "10.77.2.";
      run(
          "ip",
          "link",
          "add",
          "eth",
          "netns",
          name + end,
          "type",
          "veth",
          "peer",
          "name",
          "to" + end,
          "netns",
          name + "m");
      in(end, "ip", "address", "add", net + "2/24", "dev", "eth");
      in(end, "ip", "link", "set", "eth", "up");
      in("m", "ip", "address", "add", net + "1/24", "dev", "to" + end);
      in("m", "ip", "link", "set", "to" + end, "up");
      in(end, "ip", "route", "add", "default", "via", net + "1");
    }
    in("m", "sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward");
  }

  /// Drops all packets between the two from now on, without notifying either.
  public void part() throws IOException, InterruptedException {
    in("m", "sh", "-c", "ip link set toa down; ip link set tob down");
  }

  /// Limits the links of both to this number of bits a second in each direction, such as "1gbit".
  public void limit(String rate) throws IOException, InterruptedException {
    for (String end : List.of("toa", "tob")) {
      in(
          "m",
          "sh",
          "-c",
          "tc qdisc add dev " + end + " root tbf rate " + rate + " burst 256kb latency 50ms");
    }
  }

  /// Returns the start of a command for the near namespace, with that namespace's host name.
  public List<String> here() {
    return List.of(
        "ip",
        "netns",
        "exec",
        name + "a",
        "unshare",
        "--uts",
        "sh",
        "-c",
        "hostname \"$0\"; exec \"$@\"",
        name + "a");
  }

  /// Returns the name of the far namespace, as a host name for `ssh`.
  public String far() {
    return name + "b";
  }

  /// Returns the replacement for ssh.
  public Path ssh() {
    return ssh;
  }

  private void in(String end, String... command) throws IOException, InterruptedException {
    var inside = new ArrayList<>(List.of("ip", "netns", "exec", name + end));
    inside.addAll(List.of(command));
    run(inside.toArray(String[]::new));
  }

  private static void run(String... command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    process.getOutputStream().close();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
      process.destroyForcibly();
      throw new IOException(
          String.join(" ", command) + ": " + said.strip() + " (network namespaces need root)");
    }
  }

  @Override
  public void close() {
    onExit.close();
  }

  private void remove() {
    for (String end : List.of("a", "b", "m")) {
      try {
        run("ip", "netns", "delete", name + end);
      } catch (IOException notThere) {
        assert !notThere.toString().isEmpty();
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
