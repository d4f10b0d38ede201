// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.ring;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ByteRingTest {

  private static final int CAPACITY = 256;

  @Test
  void bytesAreReadInTheOrderTheyWereWritten() {
    long seed = Long.getLong("weft.test.seed", System.nanoTime());
    Random random = new Random(seed);
    ByteRing ring = new ByteRing(CAPACITY);
    byte[] memory = new byte[CAPACITY];
    ArrayDeque<Byte> expected = new ArrayDeque<>();
    byte next = 0;
    for (int i = 0; i < 200_000; i++) {
      if (random.nextBoolean()) {
        int bytes = 1 + random.nextInt(100);
        boolean fits = ring.fits(bytes);
        int at = ring.reserve(bytes);
        assertThat(at >= 0).as("fits, seed %d step %d", seed, i).isEqualTo(fits);
        for (int j = 0; at >= 0 && j < bytes; j++) {
          memory[at + j] = next;
          expected.add(next++);
        }
      } else if (!ring.isEmpty()) {
        long from = ring.skipGap(ring.tail());
        long end = ring.runEnd(from, ring.head());
        long until = from + 1 + random.nextInt((int) (end - from));
        for (long at = from; at < until; at++) {
          assertThat(memory[ring.index(at)])
              .as("seed %d step %d", seed, i)
              .isEqualTo(expected.remove());
        }
        ring.release(until);
      }
      assertThat(ring.isEmpty()).as("seed %d step %d", seed, i).isEqualTo(expected.isEmpty());
    }
  }

  @Test
  void anEmptyRingAcceptsAPieceOfItsWholeCapacity() {
    ByteRing ring = new ByteRing(CAPACITY);
    assertThat(ring.reserve(10)).isZero();
    assertThat(ring.reserve(CAPACITY)).isNegative();
    ring.release(ring.head());
    assertThat(ring.fits(CAPACITY)).isTrue();
    assertThat(ring.fits(CAPACITY + 1)).isFalse();
    assertThat(ring.reserve(CAPACITY)).isZero();
    assertThat(ring.reserve(1)).isNegative();
  }
}
