// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.channel;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class RequestTest {

  private static final Duration LIMIT = Duration.ofSeconds(1);

  @Test
  void theErrorForMemoryInTheHeapNamesTheMemory() {
    MemorySegment heap = MemorySegment.ofArray(new byte[8]);
    MemorySegment none = MemorySegment.NULL;
    assertThatThrownBy(() -> Request.of(1, none, heap, LIMIT))
        .hasMessageStartingWith("the payload of a request is in the heap");
    assertThatThrownBy(() -> new Request(1, none, none, heap, LIMIT))
        .hasMessageStartingWith("the place that a request offers is in the heap");
  }
}
