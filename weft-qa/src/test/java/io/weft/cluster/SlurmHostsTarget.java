// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.comm.CommException;
import io.weft.qa.fuzz.FuzzTarget;
import java.nio.charset.StandardCharsets;
import java.util.List;

/// A list of hosts in Slurm's notation.
public final class SlurmHostsTarget implements FuzzTarget {

  /// Creates the target. The fuzzer calls this constructor by reflection.
  public SlurmHostsTarget() {}

  @Override
  public String name() {
    return "slurm-hosts";
  }

  @Override
  public List<byte[]> seeds() {
    return FuzzTarget.texts("gnode[10,20-25],login1", "a[1-2]b[03-04]");
  }

  @Override
  public List<byte[]> dictionary() {
    return FuzzTarget.texts("[0-9]", "[0-999999999]", ",");
  }

  /// Allows for 65,536 hosts of 253 characters each.
  @Override
  public long allocationLimit() {
    return 48L << 20;
  }

  @Override
  public void decode(byte[] input) {
    try {
      List<String> hosts =
          SlurmHosts.expand(new String(input, StandardCharsets.UTF_8), "SLURM_NODELIST");
      if (hosts.isEmpty()) {
        throw new AssertionError("a list of no hosts was accepted");
      }
    } catch (CommException.Setup refused) {
      if (!String.valueOf(refused.getMessage()).startsWith("SLURM_NODELIST")) {
        throw new AssertionError("the message does not name the variable", refused);
      }
    }
  }
}
