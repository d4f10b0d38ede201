// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class KeptMemoryTest {

  private final KeptMemory memory = new KeptMemory();

  private KeptPush push(int bytes) {
    return new KeptPush(() -> bytes, memory.take(bytes), MemorySegment.ofArray(new byte[bytes]));
  }

  @Test
  void pushesOfTheNextClockUseTheMemoryOfTheLastOne() {
    KeptPush first = push(1000);
    KeptPush second = push(1000);
    memory.giveBack(first);
    memory.giveBack(second);
    List<Long> addresses = List.of(first.block().address(), second.block().address());
    for (int clock = 0; clock < 100; clock++) {
      KeptPush one = push(1000);
      KeptPush other = push(990);
      assertThat(List.of(one.block().address(), other.block().address()))
          .containsExactlyInAnyOrderElementsOf(addresses);
      memory.giveBack(one);
      memory.giveBack(other);
    }
  }

  @Test
  void memoryThatACopyMayReadIsNotReused() {
    KeptPush lent = push(1000);
    lent.lend();
    memory.giveBack(lent);
    assertThat(memory.unusedBytes()).isZero();
    assertThat(push(1000).block().address()).isNotEqualTo(lent.block().address());
  }

  @Test
  void tensorsThatArePushedInTurnKeepTheirMemory() {
    long before = 0;
    for (int step = 0; step < 100; step++) {
      for (int bytes : new int[] {627_200, 800, 80_000, 400, 4_000, 40}) {
        KeptPush one = push(bytes);
        KeptPush other = push(bytes);
        memory.giveBack(one);
        memory.giveBack(other);
      }
      assertThat(memory.unusedBytes()).isBetween(2 * 712_440L, (long) (2.5 * 712_440 + 1000));
      assertThat(step == 0 || memory.unusedBytes() == before).isTrue();
      before = memory.unusedBytes();
    }
  }

  @Test
  void noMoreBlocksWaitThanWereInUseTogether() {
    var random = new Random(1);
    List<KeptPush> kept = new ArrayList<>();
    for (int i = 0; i < 20_000; i++) {
      if (kept.size() < 5 && random.nextBoolean()) {
        kept.add(push(90_000 + random.nextInt(8_000)));
      } else if (!kept.isEmpty()) {
        memory.giveBack(kept.remove(random.nextInt(kept.size())));
      }
      assertThat(memory.unusedBytes()).isLessThanOrEqualTo(5 * 98_304);
    }
    kept.forEach(memory::giveBack);
    assertThat(memory.unusedBytes()).isEqualTo(5 * 98_304);
  }
}
