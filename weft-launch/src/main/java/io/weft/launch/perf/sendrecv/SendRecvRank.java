// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.perf.sendrecv;

import java.util.spi.ToolProvider;

/// One of the two tasks: the tool `weft-sendrecv` as a program.
public final class SendRecvRank {

  private SendRecvRank() {}

  /// Ends with the tool's code.
  public static void main(String[] arguments) {
    ToolProvider tool = ToolProvider.findFirst(SendRecvRanks.TOOL).orElseThrow();
    System.exit(tool.run(System.out, System.err, arguments));
  }
}
