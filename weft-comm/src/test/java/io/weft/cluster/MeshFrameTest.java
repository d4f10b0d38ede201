// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import org.junit.jupiter.api.Test;

class MeshFrameTest {

  private static MeshFrame back(MeshFrame frame) {
    MemorySegment bytes = frame.encode();
    assertThat(MeshFrame.isOne(bytes)).isTrue();
    return MeshFrame.read(bytes);
  }

  @Test
  void aDecodedFrameEqualsTheEncodedOne() {
    var lost = new MeshFrame.Lost(3, 0, "no sign of life für 5.0 s", "allreduce 'g'; barrier 'b'");
    assertThat(back(lost)).isEqualTo(lost);
    assertThat(back(lost.waitingIn(""))).isEqualTo(lost.waitingIn(""));
    assertThat(back(new MeshFrame.Heartbeat())).isEqualTo(new MeshFrame.Heartbeat());
    assertThat(back(new MeshFrame.Goodbye())).isEqualTo(new MeshFrame.Goodbye());
    assertThat(back(new MeshFrame.Connected())).isEqualTo(new MeshFrame.Connected());
  }

  @Test
  void goodbyeAndHeartbeatAreEightBytes() {
    assertThat(new MeshFrame.Goodbye().encode().toArray(ValueLayout.JAVA_BYTE))
        .containsExactly(-1, 0, 0, 0, 0, 0, 0, 0);
    assertThat(new MeshFrame.Heartbeat().encode().toArray(ValueLayout.JAVA_BYTE))
        .containsExactly(-1, 1, 0, 0, 0, 0, 0, 0);
  }

  @Test
  void longTextsAreCutAndControlCharactersReplaced() {
    var lost = new MeshFrame.Lost(1, 2, "a\nb\tc", "x".repeat(10_000));
    MemorySegment bytes = lost.encode();
    assertThat(bytes.byteSize()).isEqualTo(MeshFrame.HEADER_BYTES + MeshFrame.MAX_TEXT_BYTES);
    var read = (MeshFrame.Lost) MeshFrame.read(bytes);
    assertThat(read.why()).isEqualTo("a?b?c");
    assertThat(read.where()).isEqualTo("x".repeat(MeshFrame.MAX_TEXT_BYTES - 6));
  }

  @Test
  void malformedFramesAreNull() {
    MemorySegment lost = new MeshFrame.Lost(1, 2, "why", "").encode();
    for (long bytes = 0; bytes < MeshFrame.HEADER_BYTES; bytes++) {
      assertThat(MeshFrame.read(lost.asSlice(0, bytes))).isNull();
    }
    assertThat(MeshFrame.read(MemorySegment.ofArray(new byte[0]))).isNull();
    assertThat(MeshFrame.isOne(MemorySegment.ofArray(new byte[0]))).isFalse();
    byte[] tooLong = new byte[MeshFrame.HEADER_BYTES + MeshFrame.MAX_TEXT_BYTES + 1];
    tooLong[0] = -1;
    tooLong[1] = 2;
    assertThat(MeshFrame.read(MemorySegment.ofArray(tooLong))).isNull();
    tooLong[1] = 4;
    assertThat(MeshFrame.read(MemorySegment.ofArray(tooLong))).isNull();
    for (byte code : new byte[] {0, 1, 3}) {
      byte[] bare = {-1, code, 0, 0, 0, 0, 0, 0, 0};
      assertThat(MeshFrame.read(MemorySegment.ofArray(bare))).as("code %d", code).isNull();
    }
  }

  @Test
  void framesWithRanksOutsideTheJobAreNotWithinIt() {
    assertThat(new MeshFrame.Lost(3, 0, "", "").isWithin(4)).isTrue();
    assertThat(new MeshFrame.Lost(4, 0, "", "").isWithin(4)).isFalse();
    assertThat(new MeshFrame.Lost(0, 4, "", "").isWithin(4)).isFalse();
    assertThat(new MeshFrame.Lost(-1, 0, "", "").isWithin(4)).isFalse();
  }

  @Test
  void randomBytesAreDecodedOrNull() {
    long seed = Long.getLong("weft.test.seed", System.nanoTime());
    Random random = new Random(seed);
    for (int i = 0; i < 20_000; i++) {
      byte[] bytes = new byte[random.nextInt(40)];
      random.nextBytes(bytes);
      if (bytes.length > 1) {
        bytes[0] = -1;
        bytes[1] = (byte) random.nextInt(4);
      }
      MeshFrame frame = MeshFrame.read(MemorySegment.ofArray(bytes));
      if (frame instanceof MeshFrame.Lost lost) {
        assertThat(lost.why() + lost.where())
            .as("seed %s", seed)
            .doesNotContainPattern("\\p{Cntrl}");
      }
    }
  }
}
