// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.process;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// Starts a program on this host. If the system allows it, the program dies with the thread that
/// started it, so that a killed launcher leaves no processes. It has a separate session, so that
/// Ctrl-C reaches only the launcher, which then ends its processes in order.
public final class LocalStart {

  private static final File NOTHING = new File("/dev/null");

  private final List<String> wrapper;

  /// Creates a starter with the wrappers found in PATH.
  public LocalStart() {
    var wrapped = new ArrayList<String>();
    Programs.find("setpriv")
        .ifPresent(path -> wrapped.addAll(List.of(path.toString(), "--pdeathsig", "KILL")));
    Programs.find("setsid").ifPresent(path -> wrapped.add(path.toString()));
    this.wrapper = List.copyOf(wrapped);
  }

  /// Starts a program with this process's environment, without `removed`, and with `variables`. Its
  /// input is empty.
  public Process start(List<String> command, Map<String, String> variables, List<String> removed)
      throws IOException {
    return start(command, ProcessBuilder.Redirect.from(NOTHING), variables, removed);
  }

  /// Starts a program with this input.
  public Process start(
      List<String> command,
      ProcessBuilder.Redirect input,
      Map<String, String> variables,
      List<String> removed)
      throws IOException {
    var wrapped = new ArrayList<>(wrapper);
    wrapped.addAll(command);
    var builder = new ProcessBuilder(wrapped).redirectInput(input);
    removed.forEach(builder.environment()::remove);
    builder.environment().putAll(variables);
    return builder.start();
  }
}
