// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.qa.fuzz.FuzzTarget;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.List;

/// What a peer says for the mesh itself: heartbeats, losses, good-byes.
public final class MeshFrameTarget implements FuzzTarget {

  /// For the fuzzer.
  public MeshFrameTarget() {}

  @Override
  public String name() {
    return "mesh-frame";
  }

  @Override
  public List<byte[]> seeds() {
    return List.of(
        bytes(new MeshFrame.Goodbye()),
        bytes(new MeshFrame.Heartbeat()),
        bytes(new MeshFrame.Connected()),
        bytes(new MeshFrame.Lost(2, 1, "it was silent for 5 s", "allreduce 'g'")),
        bytes(new MeshFrame.Lost(0, 0, "", "")));
  }

  private static byte[] bytes(MeshFrame frame) {
    return frame.encode().toArray(ValueLayout.JAVA_BYTE);
  }

  @Override
  public List<byte[]> dictionary() {
    return List.of(
        new byte[] {-1, 2, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0},
        "\n".getBytes(StandardCharsets.UTF_8),
        "\u0085\u2028\u00e9".getBytes(StandardCharsets.UTF_8));
  }

  @Override
  public void decode(byte[] input) {
    var message = MemorySegment.ofArray(input);
    if (!MeshFrame.isOne(message)) {
      return;
    }
    MeshFrame frame = MeshFrame.read(message);
    if (frame == null) {
      return;
    }
    if (frame instanceof MeshFrame.Lost lost) {
      check(lost);
    }
    byte[] passedOn = bytes(frame);
    if (passedOn.length > MeshFrame.HEADER_BYTES + MeshFrame.MAX_TEXT_BYTES) {
      throw new AssertionError("is passed on in " + passedOn.length + " bytes");
    }
    MeshFrame again = MeshFrame.read(MemorySegment.ofArray(passedOn));
    if (again == null || again.getClass() != frame.getClass()) {
      throw new AssertionError("is passed on as " + again + ", came as " + frame);
    }
  }

  private static void check(MeshFrame.Lost lost) {
    String texts = lost.why() + lost.where();
    if (texts.chars().anyMatch(c -> c < ' ' || c == 127)) {
      throw new AssertionError("control characters come through: " + lost);
    }
    if (lost.isWithin(3) && (lost.rank() > 2 || lost.witness() > 2 || lost.rank() < 0)) {
      throw new AssertionError("took it for a loss in a job of 3: " + lost);
    }
  }
}
