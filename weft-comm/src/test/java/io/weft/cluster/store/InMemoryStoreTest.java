// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.cluster.Store;
import io.weft.comm.CommException;
import org.junit.jupiter.api.Test;

class InMemoryStoreTest extends StoreContract {

  private final InMemoryStore store = new InMemoryStore();

  @Override
  Store open() {
    return store;
  }

  @Test
  void aFullStoreRefusesValues() {
    byte[] value = new byte[Store.MAX_VALUE_BYTES];
    assertThatThrownBy(
            () -> {
              for (int i = 0; i < 2_000; i++) {
                store.put("k" + i, value);
              }
            })
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining("full");
  }

  @Test
  void keysCountWithTheirBytesInUtf8() {
    String key = "ü".repeat(100);
    store.put(key, new byte[10]);
    assertThat(store.bytes()).isEqualTo(210);
    assertThat(store.compareAndSet(key, new byte[10], new byte[20])).isTrue();
    assertThat(store.bytes()).isEqualTo(220);
    store.remove(key);
    assertThat(store.bytes()).isZero();
  }
}
