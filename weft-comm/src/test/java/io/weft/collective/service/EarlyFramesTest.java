// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

class EarlyFramesTest {

  private static final int FRAME = 1 << 16;

  private static int kept(long heapBytes) {
    var early = new EarlyFrames(heapBytes);
    MemorySegment frame = MemorySegment.ofArray(new byte[FRAME]);
    int kept = 0;
    while (!early.isOverfull()) {
      early.keep(kept++, 1, frame);
    }
    assertThat(early.mostBy()).isEqualTo(1);
    return kept;
  }

  @Test
  void aSmallHeapKeepsFewerFrames() {
    assertThat((long) kept(64L << 20) * FRAME).isBetween(7L << 20, 9L << 20);
    assertThat((long) kept(256L << 20) * FRAME).isBetween(31L << 20, 33L << 20);
  }
}
