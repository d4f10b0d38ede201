// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.negotiation;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.dataparallel.frame.Signatures;
import org.junit.jupiter.api.Test;

class ResponseCacheTest {

  @Test
  void theLeastRecentlyUsedEntryIsEvictedAndItsSlotReused() {
    ResponseCache cache = new ResponseCache(2);
    assertThat(cache.put("a", Signatures.floats(1))).isNull();
    assertThat(cache.put("b", Signatures.floats(2))).isNull();
    cache.touch("a");
    assertThat(cache.put("c", Signatures.floats(3))).isEqualTo("b");
    assertThat(cache.has("b")).isFalse();
    assertThat(cache.slot("c")).isEqualTo(1);
    assertThat(cache.name(1)).isEqualTo("c");
    assertThat(cache.signature("c")).isEqualTo(Signatures.floats(3));
    assertThat(cache.slots()).isEqualTo(2);
  }

  @Test
  void aRemovedEntryLeavesAnEmptySlotThatIsReused() {
    ResponseCache cache = new ResponseCache(4);
    cache.put("a", Signatures.floats(1));
    cache.put("b", Signatures.floats(1));
    cache.remove("a");
    assertThat(cache.name(0)).isNull();
    assertThat(cache.slots()).isEqualTo(2);
    cache.put("c", Signatures.floats(1));
    assertThat(cache.slot("c")).isZero();
  }

  @Test
  void withoutCapacityNothingIsRemembered() {
    ResponseCache cache = new ResponseCache(0);
    assertThat(cache.put("a", Signatures.floats(1))).isNull();
    assertThat(cache.has("a")).isFalse();
    assertThat(cache.slots()).isZero();
  }
}
