// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.comm.CommException;
import io.weft.qa.fuzz.FuzzTarget;
import java.nio.charset.StandardCharsets;
import java.util.List;

/// The address of the job's store in a setting.
public final class HostAndPortTarget implements FuzzTarget {

  /// Creates the target. The fuzzer calls this constructor by reflection.
  public HostAndPortTarget() {}

  @Override
  public String name() {
    return "host-and-port";
  }

  @Override
  public List<byte[]> seeds() {
    return FuzzTarget.texts("node7:29400", "[::1]:65535", "::1", "[::1]", "::1:29400");
  }

  @Override
  public void decode(byte[] input) {
    String text = new String(input, StandardCharsets.UTF_8);
    try {
      HostAndPort found = HostAndPort.parse(text, "WEFT_STORE");
      if (found.port() < 1 || found.port() > 65_535 || found.host().isBlank()) {
        throw new AssertionError("accepted " + found);
      }
    } catch (CommException.Setup refused) {
      if (!String.valueOf(refused.getMessage()).startsWith("WEFT_STORE")) {
        throw new AssertionError("the message does not name the variable", refused);
      }
    }
  }
}
