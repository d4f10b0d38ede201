// SPDX-License-Identifier: Apache-2.0
package io.weft.planted;

import io.weft.qa.fuzz.FuzzTarget;
import java.nio.ByteBuffer;
import java.util.List;

/// A decoder with a planted fault: after a magic number, a kind and a length it accepts a negative
/// length.
public final class PlantedTarget implements FuzzTarget {

  private static final int MAGIC = 0x7A3C_91E5;
  private static final int HEADER_BYTES = 9;

  /// Creates the target. The fuzzer calls this constructor by reflection.
  public PlantedTarget() {}

  @Override
  public String name() {
    return "planted";
  }

  @Override
  public List<byte[]> seeds() {
    return List.of(new byte[16]);
  }

  @Override
  public void decode(byte[] input) {
    if (input.length <= HEADER_BYTES) {
      return;
    }
    ByteBuffer in = ByteBuffer.wrap(input);
    if (in.getInt() != MAGIC) {
      return;
    }
    if (in.get() != 3) {
      return;
    }
    int length = in.getInt();
    if (length > in.remaining()) {
      return;
    }
    in.get(input[HEADER_BYTES + length - 1] == 0 ? in.position() : HEADER_BYTES);
  }
}
