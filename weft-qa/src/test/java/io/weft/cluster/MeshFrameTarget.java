// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.qa.fuzz.FuzzTarget;
import io.weft.transport.Address;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.BitSet;
import java.util.List;

/// The mesh's own frames of a peer: heartbeats, losses and good-byes.
public final class MeshFrameTarget implements FuzzTarget {

  private static final int MOST_RANKS = 16_384;
  private static final int JOIN_HEADER_BYTES = 16;
  private static final Member LATE =
      new Member(
          4,
          1,
          0,
          "node7",
          "12@3@pid:[4]",
          new Processors("0-3,8"),
          List.of(new Address("tcp", "127.0.0.1:4000"), new Address("tcp", "127.0.0.1:4001")));

  /// Creates the target. The fuzzer calls this constructor by reflection.
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
        bytes(new MeshFrame.Lost(0, 0, "", "")),
        bytes(new MeshFrame.Join(LATE)),
        bytes(new MeshFrame.Welcome(BitSet.valueOf(new long[] {5, 1L << 40}))),
        bytes(new MeshFrame.Welcome(new BitSet())));
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
    if (frame instanceof MeshFrame.Join join) {
      check(join.member());
    }
    if (frame instanceof MeshFrame.Welcome welcome && welcome.gone().length() > MOST_RANKS) {
      throw new AssertionError("takes a rank beyond the last one: " + welcome.gone());
    }
    byte[] passedOn = bytes(frame);
    if (passedOn.length > JOIN_HEADER_BYTES + MeshFrame.MAX_TEXT_BYTES) {
      throw new AssertionError("is passed on in " + passedOn.length + " bytes");
    }
    MeshFrame again = MeshFrame.read(MemorySegment.ofArray(passedOn));
    if (again == null
        || again.getClass() != frame.getClass()
        || (frame instanceof MeshFrame.Join && !again.equals(frame))
        || (frame instanceof MeshFrame.Welcome && !again.equals(frame))) {
      throw new AssertionError("is passed on as " + again + ", came as " + frame);
    }
  }

  private static void check(Member late) {
    int rank = late.rank();
    if (rank < 1
        || rank >= MOST_RANKS
        || late.localRank() < 0
        || late.localRank() > rank
        || late.crossRank() < 0
        || late.crossRank() > rank
        || late.addresses().isEmpty()
        || late.host().isEmpty()) {
      throw new AssertionError("took it for a rank that joins: " + late);
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
