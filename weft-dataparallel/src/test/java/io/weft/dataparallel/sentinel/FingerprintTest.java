// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.sentinel;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.property.Property;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.junit.jupiter.api.Test;

class FingerprintTest {

  private static void flip(MemorySegment data, long bit) {
    byte before = data.get(JAVA_BYTE, bit / 8);
    data.set(JAVA_BYTE, bit / 8, (byte) (before ^ 1 << bit % 8));
  }

  @Test
  void everyBitChangesTheFingerprint() {
    Property.check(300, draw -> everyBitChangesTheFingerprint(draw.between(1, 300), draw.seed()));
  }

  private void everyBitChangesTheFingerprint(int bytes, long seed) {
    var random = new Random(seed);
    byte[] content = new byte[bytes];
    random.nextBytes(content);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment data = arena.allocateFrom(JAVA_BYTE, content);
      long before = Fingerprint.of(data);
      assertThat(Fingerprint.of(arena.allocateFrom(JAVA_BYTE, content))).isEqualTo(before);
      int bit = random.nextInt(bytes * 8);
      flip(data, bit);
      assertThat(Fingerprint.of(data)).isNotEqualTo(before);
      flip(data, bit);
      assertThat(Fingerprint.of(data)).isEqualTo(before);
    }
  }

  @Test
  void positionAndLengthChangeTheFingerprint() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment zeros = arena.allocate(64);
      assertThat(Fingerprint.of(zeros.asSlice(0, 40)))
          .isNotEqualTo(Fingerprint.of(zeros.asSlice(0, 48)));
      MemorySegment first = arena.allocate(64);
      MemorySegment second = arena.allocate(64);
      first.set(JAVA_BYTE, 0, (byte) 1);
      second.set(JAVA_BYTE, 8, (byte) 1);
      assertThat(Fingerprint.of(first)).isNotEqualTo(Fingerprint.of(second));
    }
  }
}
