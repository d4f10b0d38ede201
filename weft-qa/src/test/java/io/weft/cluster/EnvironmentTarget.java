// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.comm.CommException;
import io.weft.qa.fuzz.FuzzTarget;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Environment variables that a launcher may set, one `NAME=value` per line.
public final class EnvironmentTarget implements FuzzTarget {

  private static final List<String> NAMES =
      List.of(
          "WEFT_RANK=",
          "WEFT_SIZE=",
          "WEFT_LOCAL_RANK=",
          "WEFT_LOCAL_SIZE=",
          "WEFT_STORE=",
          "WEFT_LAUNCHER=",
          "WEFT_JOB=",
          "OMPI_COMM_WORLD_RANK=",
          "OMPI_COMM_WORLD_SIZE=",
          "PMI_RANK=",
          "PMI_SIZE=",
          "SLURM_PROCID=",
          "SLURM_STEP_ID=",
          "SLURM_NTASKS=",
          "SLURM_STEP_NODELIST=",
          "JOB_COMPLETION_INDEX=",
          "RANK=",
          "WORLD_SIZE=",
          "MASTER_ADDR=",
          "MASTER_PORT=");

  /// Creates the target. The fuzzer calls this constructor by reflection.
  public EnvironmentTarget() {}

  @Override
  public String name() {
    return "environment";
  }

  @Override
  public List<byte[]> seeds() {
    return List.of(
        bytes("WEFT_RANK=1\nWEFT_SIZE=2\nWEFT_STORE=[::1]:29400\nWEFT_LAUNCHER=1\nWEFT_JOB=j"),
        bytes("OMPI_COMM_WORLD_RANK=0\nOMPI_COMM_WORLD_SIZE=1"),
        bytes("PMI_RANK=0\nPMI_SIZE=3\nWEFT_STORE=10.0.0.7:29400"),
        bytes("SLURM_PROCID=0\nSLURM_STEP_ID=0\nSLURM_NTASKS=2\nSLURM_STEP_NODELIST=n[1-2]"),
        bytes("JOB_COMPLETION_INDEX=0\nWEFT_SIZE=2\nWEFT_STORE=j-0.j:29400"),
        bytes("RANK=0\nWORLD_SIZE=2\nMASTER_ADDR=h\nMASTER_PORT=29500"));
  }

  @Override
  public List<byte[]> dictionary() {
    return NAMES.stream().map(EnvironmentTarget::bytes).toList();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public void decode(byte[] input) {
    Map<String, String> variables = new HashMap<>();
    for (String line : new String(input, StandardCharsets.UTF_8).split("\n", -1)) {
      int equals = line.indexOf('=');
      if (equals > 0) {
        variables.put(line.substring(0, equals), line.substring(equals + 1));
      }
    }
    try {
      LaunchEnvironment found = LaunchEnvironment.detect(variables);
      if (found.rank() < 0 || found.rank() >= found.size()) {
        throw new AssertionError("accepted " + found);
      }
    } catch (CommException.Setup refused) {
      if (refused.getMessage() == null) {
        throw new AssertionError("no message", refused);
      }
    }
  }
}
