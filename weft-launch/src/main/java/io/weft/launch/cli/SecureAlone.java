// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import io.weft.cluster.SecureMode;
import java.util.Arrays;
import java.util.Map;
import java.util.Stack;
import picocli.CommandLine.IParameterPreprocessor;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;

/// Accepts `--secure` alone for `--secure on`: the next word is its value only if it is a mode, or
/// follows an equals sign.
public final class SecureAlone implements IParameterPreprocessor {

  @Override
  public boolean preprocess(
      Stack<String> words, CommandSpec command, ArgSpec flag, Map<String, Object> info) {
    boolean attached = "=".equals(info.get("separator"));
    if (!attached && (words.isEmpty() || !isMode(words.peek()))) {
      words.push(SecureMode.ON.toString());
    }
    return false;
  }

  private static boolean isMode(String word) {
    return Arrays.stream(SecureMode.values()).anyMatch(mode -> mode.toString().equals(word));
  }
}
