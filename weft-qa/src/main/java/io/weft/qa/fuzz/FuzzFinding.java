// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.fuzz;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.stream.Collectors;

/// An input that did what no input may, shortened as far as it still does.
///
/// @param failure what came out of the decoder
@SuppressWarnings("ArrayRecordComponent") // never compared
record FuzzFinding(String target, byte[] input, Throwable failure) {

  private static final int FRAMES = 3;

  /// What tells this failure from others: its type and where it was thrown.
  static String place(Throwable failure) {
    return failure.getClass().getName()
        + Arrays.stream(failure.getStackTrace())
            .filter(frame -> frame.getClassName().startsWith("io.weft."))
            .filter(frame -> !frame.getClassName().startsWith("io.weft.qa.fuzz."))
            .limit(FRAMES)
            .map(frame -> " at " + frame.getClassName() + "." + frame.getMethodName())
            .collect(Collectors.joining());
  }

  /// With the line that replays it.
  @Override
  public String toString() {
    var text = new StringWriter();
    failure.printStackTrace(new PrintWriter(text));
    return target
        + ": "
        + input.length
        + " bytes do what no input may; again: tools/fuzz "
        + target
        + " --replay "
        + HexFormat.of().formatHex(input)
        + "\n"
        + text;
  }
}
