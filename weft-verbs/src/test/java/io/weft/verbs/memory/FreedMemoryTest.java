// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.memory;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FreedMemoryTest {

  private static final int PAGES = 3;

  private final MemorySegment freed = MemorySegment.ofArray(new byte[PAGES * PoolBlock.PAGE]);

  @Test
  void untouchedMemoryPasses() {
    FreedMemory.fill(freed);
    assertThatCode(() -> FreedMemory.check(freed)).doesNotThrowAnyException();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 4095, 4096, 3 * 4096 - 1})
  void aWrittenByteIsReportedWithItsPlace(int at) {
    FreedMemory.fill(freed);
    freed.set(ValueLayout.JAVA_BYTE, at, (byte) 7);
    assertThatThrownBy(() -> FreedMemory.check(freed))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContainingAll("after its release", "byte " + at + " of 12288", "0x07, not 0xdb");
  }
}
