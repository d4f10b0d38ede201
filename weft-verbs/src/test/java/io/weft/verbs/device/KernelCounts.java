// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.device;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/// The number of resources of each kind that the kernel has for all devices.
public final class KernelCounts {

  private KernelCounts() {}

  /// Returns the counts, such as `rxe0: pd 1 cq 1 qp 1 cm_id 0 mr 0 ctx 0 srq 0`.
  public static String now() throws IOException, InterruptedException {
    Process rdma = new ProcessBuilder("rdma", "resource", "show").redirectErrorStream(true).start();
    String text = new String(rdma.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (!rdma.waitFor(60, TimeUnit.SECONDS) || rdma.exitValue() != 0 || !text.contains("qp ")) {
      throw new IOException("'rdma resource show' says: " + text);
    }
    // A number before the name counts all devices that ever existed.
    return text.replaceAll("(?m)^[0-9]+: ", "").strip();
  }
}
