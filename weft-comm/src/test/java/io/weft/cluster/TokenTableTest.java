// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class TokenTableTest {

  private final TokenTable tokens = new TokenTable();

  private record Owner(int number) implements TokenOwner {
    @Override
    public boolean onNotify(int fromRank) {
      return true;
    }
  }

  private record Other() implements TokenOwner {
    @Override
    public boolean onNotify(int fromRank) {
      return false;
    }
  }

  @Test
  void tokensFindTheirOwnersUntilTheyAreFreed() {
    Random random = new Random(7);
    Map<Integer, Owner> model = new HashMap<>();
    List<Integer> live = new ArrayList<>();
    Set<Integer> past = new HashSet<>();
    for (int i = 0; i < 100_000; i++) {
      if (live.isEmpty() || random.nextInt(100) < 51) {
        var owner = new Owner(i);
        int token = tokens.take(owner);
        assertThat(model.put(token, owner)).as("given twice").isNull();
        live.add(token);
        past.remove(token);
      } else {
        int token = live.remove(random.nextInt(live.size()));
        assertThat(tokens.find(token)).isSameAs(model.remove(token));
        tokens.free(token);
        tokens.free(token);
        past.add(token);
      }
    }
    model.forEach((token, owner) -> assertThat(tokens.find(token)).isSameAs(owner));
    past.forEach(token -> assertThat(tokens.find(token)).isNull());
  }

  @Test
  void noGenerationHasAllBitsSoThatNoTokenIsMinusOne() {
    var owner = new Owner(0);
    int slots = 256;
    int most = 0;
    for (int i = 0; i < slots << 14; i++) {
      int token = tokens.take(owner);
      most = Math.max(most, token >>> 18);
      tokens.free(token);
    }
    assertThat(most).isEqualTo((1 << 14) - 2);
    assertThat(tokens.isPast(0)).as("a token of generation 0, which was reused").isTrue();
    assertThat(tokens.isPast(-1 << 18)).as("a token of the generation without a use").isFalse();
  }

  @Test
  void aFreedTokenFindsNoOwnerAfterItsSlotIsReused() {
    int first = tokens.take(new Owner(1));
    tokens.free(first);
    for (int i = 0; i < 10_000; i++) {
      int token = tokens.take(new Owner(2));
      assertThat(tokens.find(first)).isNull();
      assertThat(tokens.isPast(first)).isTrue();
      tokens.free(token);
    }
  }

  @Test
  void aTokenThatWasNeverTakenIsNotPast() {
    assertThat(tokens.find(-1)).isNull();
    assertThat(tokens.isPast(-1)).isFalse();
    int first = tokens.take(new Owner(1));
    tokens.free(first);
    int slot = first & ((1 << 18) - 1);
    assertThat(tokens.isPast(first)).isTrue();
    for (int never : new int[] {slot, 2 << 18 | slot, 1 << 18 | (slot + 1), -1 << 18 | slot}) {
      assertThat(tokens.isPast(never)).as("token %x", never).isFalse();
    }
  }

  @Test
  void tokensOfAnotherServiceAreNotFound() {
    int token = tokens.take(new Other());
    assertThat(tokens.find(token, Owner.class)).isNull();
    assertThat(tokens.find(token, Other.class)).isEqualTo(new Other());
  }

  @Test
  void theTableReportsFullBeforeTheLastTokenIsTaken() {
    List<Integer> all = new ArrayList<>();
    while (!tokens.isFull()) {
      all.add(tokens.take(new Owner(all.size())));
    }
    int refusedFrom = all.size();
    while (all.size() < 1 << 18) {
      all.add(tokens.take(new Owner(all.size())));
    }
    assertThat(refusedFrom).isBetween(1 << 17, (1 << 18) - 1000);
    assertThat(new HashSet<>(all)).hasSameSizeAs(all);
    assertThatThrownBy(() -> tokens.take(new Owner(0)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("262144 operations");
    tokens.free(all.get(77));
    assertThat(tokens.find(tokens.take(new Owner(3)))).isEqualTo(new Owner(3));
  }
}
