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

/// Two network namespaces of this machine, with a third one between them that carries packets from
/// one to the other until they are parted: two hosts, as programs see it. Needs root. `close`
/// removes them, and so does the end of this process.
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

  /// Makes them, and below `directory` a replacement for ssh that starts programs in the far one.
  /// Throws `IOException` with what the system said where they cannot be had.
  public static Networks create(Path directory) throws IOException, InterruptedException {
    String name = "weft" + ProcessHandle.current().pid();
    Path ssh = directory.resolve("ssh");
    Files.writeString(
        ssh,
        """
        #!/bin/sh
        # Stands in for ssh: `ssh [-G] [options] -- HOST COMMAND`, where HOST is a network namespace.
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

  /// From now on nothing goes from one to the other, and nobody is told.
  public void part() throws IOException, InterruptedException {
    in("m", "sh", "-c", "ip link set toa down; ip link set tob down");
  }

  /// From now on the links to both carry so many bits a second each way, such as "1gbit".
  public void limit(String rate) throws IOException, InterruptedException {
    for (String end : List.of("toa", "tob")) {
      in(
          "m",
          "sh",
          "-c",
          "tc qdisc add dev " + end + " root tbf rate " + rate + " burst 256kb latency 50ms");
    }
  }

  /// Begins a command that shall run in the near one, under its own host name.
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

  /// What the far one is called, as the name of a host for `ssh`.
  public String far() {
    return name + "b";
  }

  /// The replacement for ssh.
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
