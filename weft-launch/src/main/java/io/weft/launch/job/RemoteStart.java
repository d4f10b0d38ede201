// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.job;

import io.weft.launch.process.LocalStart;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/// Starts a rank on another host by ssh. The rank's script, including the secret, is sent through
/// ssh's standard input; the remote command line contains only its length. The rank's processes end
/// when that input ends: with the connection, and with the launcher.
final class RemoteStart {

  private static final List<String> OPTIONS =
      List.of(
          "-T",
          "-o",
          "BatchMode=yes",
          "-o",
          "ConnectTimeout=10",
          "-o",
          "ServerAliveInterval=5",
          "-o",
          "ServerAliveCountMax=3");

  private final LocalStart local;
  private final List<String> ssh;

  /// @param local starts ssh, which therefore ends with the launcher
  RemoteStart(LocalStart local, List<String> ssh) {
    this.local = local;
    this.ssh = ssh;
  }

  Process start(String host, Path directory, List<String> command, Map<String, String> variables)
      throws IOException {
    byte[] script = script(directory, command, variables).getBytes(StandardCharsets.UTF_8);
    var line = new ArrayList<>(ssh);
    line.addAll(OPTIONS);
    line.add("--");
    line.add(host);
    line.add("exec /bin/sh -c 'eval \"$(dd bs=1 count=" + script.length + " 2>/dev/null)\"'");
    Process process = local.start(line, ProcessBuilder.Redirect.PIPE, Map.of(), List.of());
    var unused =
        Thread.ofPlatform().daemon().name("weft-ssh-input").start(() -> write(script, process));
    return process;
  }

  /// Writes the script. Runs on a separate thread, because a pipe accepts bytes only as fast as ssh
  /// reads.
  private static void write(byte[] script, Process ssh) {
    try {
      // The stream stays open, because its end would end the rank.
      OutputStream in = ssh.getOutputStream();
      in.write(script);
      in.flush();
    } catch (IOException refused) {
      // ssh has ended already; its exit code and output say why.
      assert !refused.toString().isEmpty();
    }
  }

  static String script(Path directory, List<String> command, Map<String, String> variables) {
    var script = new StringBuilder("cd " + quoted(directory.toString()) + " || exit 126\n");
    new TreeMap<>(variables)
        .forEach(
            (name, value) ->
                script
                    .append("export ")
                    .append(name)
                    .append('=')
                    .append(quoted(value))
                    .append('\n'));
    String words = command.stream().map(RemoteStart::quoted).collect(Collectors.joining(" "));
    script.append(
        """
        session=
        command -v setsid >/dev/null && session=setsid
        $session %s </dev/null &
        rank=$!
        to=$rank
        [ -n "$session" ] && to=-$rank
        { cat >/dev/null; kill -TERM -- "$to"; sleep 3; kill -KILL -- "$to"; } <&0 >/dev/null 2>&1 &
        watch=$!
        wait "$rank"
        code=$?
        kill "$watch" 2>/dev/null
        kill -KILL -- "$to" 2>/dev/null
        exit "$code"
        """
            .formatted(words));
    return script.toString();
  }

  /// Returns the text as one word of a POSIX shell.
  static String quoted(String text) {
    return "'" + text.replace("'", "'\\''") + "'";
  }
}
