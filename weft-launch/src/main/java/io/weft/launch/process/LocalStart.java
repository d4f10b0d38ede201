// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.process;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// Starts a program on this host. Where the system can, it dies with the thread that started it (so
/// that a killed launcher leaves none), and has a session of its own (so that Ctrl-C reaches the
/// launcher alone, which then ends what it started in order).
public final class LocalStart {

  private static final File NOTHING = new File("/dev/null");

  private final List<String> wrapper;

  /// With what PATH has.
  public LocalStart() {
    var wrapped = new ArrayList<String>();
    Programs.find("setpriv")
        .ifPresent(path -> wrapped.addAll(List.of(path.toString(), "--pdeathsig", "KILL")));
    Programs.find("setsid").ifPresent(path -> wrapped.add(path.toString()));
    this.wrapper = List.copyOf(wrapped);
  }

  /// `variables` go over this process's environment, without `removed`.
  public Process start(List<String> command, Map<String, String> variables, List<String> removed)
      throws IOException {
    return start(command, ProcessBuilder.Redirect.from(NOTHING), variables, removed);
  }

  /// The same with this input.
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
