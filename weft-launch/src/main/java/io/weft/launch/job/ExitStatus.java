// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.job;

import java.util.Map;

/// An exit code and its meaning in words.
///
/// @param code 0 to 255; a code from 129 on is usually a signal
/// @param remote true if ssh passed the code on
public record ExitStatus(int code, boolean remote) {

  private static final int SIGNALS = 128;
  private static final Map<Integer, String> NAMES =
      Map.ofEntries(
          Map.entry(1, "SIGHUP"),
          Map.entry(2, "SIGINT"),
          Map.entry(3, "SIGQUIT"),
          Map.entry(4, "SIGILL"),
          Map.entry(6, "SIGABRT"),
          Map.entry(7, "SIGBUS"),
          Map.entry(8, "SIGFPE"),
          Map.entry(9, "SIGKILL"),
          Map.entry(11, "SIGSEGV"),
          Map.entry(13, "SIGPIPE"),
          Map.entry(15, "SIGTERM"));

  /// Returns true if the code indicates a signal.
  boolean bySignal() {
    return NAMES.containsKey(code - SIGNALS);
  }

  /// Returns the status for a message: "exit code 3", "killed by SIGKILL (exit code 137)".
  @Override
  public String toString() {
    String plain = "exit code " + code;
    if (remote && code == 255) {
      return "ssh failed (" + plain + ")";
    }
    if (code == 127) {
      return "command not found (" + plain + ")";
    }
    if (code == 126) {
      return "command cannot be executed (" + plain + ")";
    }
    String signal = NAMES.get(code - SIGNALS);
    return signal == null ? plain : "killed by " + signal + " (" + plain + ")";
  }
}
