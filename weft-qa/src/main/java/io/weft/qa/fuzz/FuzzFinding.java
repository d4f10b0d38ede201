// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.fuzz;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.stream.Collectors;

/// An input that made the decoder fail, shortened as far as the failure remains.
///
/// @param target name of the target
/// @param input the shortened input
/// @param failure the exception of the decoder
@SuppressWarnings("ArrayRecordComponent") // Never compared.
record FuzzFinding(String target, byte[] input, Throwable failure) {

  private static final int FRAMES = 3;

  /// Returns the type of a failure and the place where it was thrown, which distinguish failures.
  static String place(Throwable failure) {
    return failure.getClass().getName()
        + Arrays.stream(failure.getStackTrace())
            .filter(frame -> frame.getClassName().startsWith("io.weft."))
            .filter(frame -> !frame.getClassName().startsWith("io.weft.qa.fuzz."))
            .limit(FRAMES)
            .map(frame -> " at " + frame.getClassName() + "." + frame.getMethodName())
            .collect(Collectors.joining());
  }

  /// Returns the finding with the command line that replays it.
  @Override
  public String toString() {
    var text = new StringWriter();
    failure.printStackTrace(new PrintWriter(text));
    return target
        + ": "
        + input.length
        + " bytes make the decoder fail; again: tools/fuzz "
        + target
        + " --replay "
        + HexFormat.of().formatHex(input)
        + "\n"
        + text;
  }
}
