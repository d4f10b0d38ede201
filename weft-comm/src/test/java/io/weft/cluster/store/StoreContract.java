// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.cluster.Store;
import io.weft.comm.CommException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/// The tests that every store must pass.
abstract class StoreContract {

  private static final Duration SHORT = Duration.ofMillis(30);
  private static final Duration LONG = Duration.ofSeconds(20);

  /// A view of the store under test; all views share it.
  abstract Store open() throws Exception;

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void aValueIsVisibleToAllClients() throws Exception {
    try (Store one = open();
        Store other = open()) {
      one.put("a/b c/ü", bytes("x"));
      assertThat(other.get("a/b c/ü", SHORT)).isEqualTo(bytes("x"));
      assertThat(other.find("a/b c/ü")).contains(bytes("x"));
      assertThat(other.find("a")).isEmpty();
    }
  }

  @Test
  void aLaterPutReplacesTheValue() throws Exception {
    try (Store store = open()) {
      store.put("k", bytes("1"));
      store.put("k", bytes("2"));
      store.put("empty", new byte[0]);
      assertThat(store.get("k", SHORT)).isEqualTo(bytes("2"));
      assertThat(store.get("empty", SHORT)).isEmpty();
    }
  }

  @Test
  void getWaitsForPut() throws Exception {
    try (Store reader = open();
        Store writer = open()) {
      CompletableFuture<byte[]> read =
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  return reader.get("late", LONG);
                } catch (InterruptedException interrupted) {
                  throw new IllegalStateException(interrupted);
                }
              });
      assertThat(writer.find("late")).isEmpty();
      writer.put("late", bytes("v"));
      assertThat(read.get(20, TimeUnit.SECONDS)).isEqualTo(bytes("v"));
    }
  }

  @Test
  void theErrorOfGetNamesTheKey() throws Exception {
    try (Store store = open()) {
      assertThatThrownBy(() -> store.get("never", SHORT))
          .isInstanceOf(CommException.Setup.class)
          .hasMessageContaining("'never'")
          .hasMessageContaining("0.03 s");
    }
  }

  @Test
  void longestKeyAndValueFitAndLongerDoNot() throws Exception {
    try (Store store = open()) {
      String key = "k".repeat(Store.MAX_STORED_KEY_BYTES);
      byte[] value = new byte[Store.MAX_VALUE_BYTES];
      value[value.length - 1] = 7;
      store.put(key, value);
      assertThat(store.get(key, LONG)).isEqualTo(value);
      assertThatThrownBy(() -> store.put(key + "k", value))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> store.put(key, new byte[value.length + 1]))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void everyCallRefusesAnInvalidKey() throws Exception {
    try (Store store = open()) {
      for (String key : List.of("", "k".repeat(Store.MAX_STORED_KEY_BYTES + 1))) {
        List<ThrowingCallable> calls =
            List.of(
                () -> store.put(key, bytes("v")),
                () -> store.putIfAbsent(key, bytes("v")),
                () -> store.compareAndSet(key, bytes("v"), bytes("w")),
                () -> store.remove(key),
                () -> store.find(key),
                () -> store.get(key, SHORT),
                () -> store.awaitChange(key, bytes("v"), SHORT));
        assertThat(calls)
            .allSatisfy(
                call ->
                    assertThatThrownBy(call)
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("keys of 1 to "));
      }
    }
  }

  @Test
  void onlyTheFirstPutIfAbsentSucceeds() throws Exception {
    try (Store one = open();
        Store other = open()) {
      assertThat(one.putIfAbsent("leader", bytes("0"))).isTrue();
      assertThat(other.putIfAbsent("leader", bytes("1"))).isFalse();
      assertThat(other.find("leader")).contains(bytes("0"));
      one.remove("leader");
      one.remove("leader");
      assertThat(other.find("leader")).isEmpty();
      assertThat(other.putIfAbsent("leader", new byte[0])).isTrue();
      assertThat(one.putIfAbsent("leader", bytes("0"))).isFalse();
    }
  }

  @Test
  void compareAndSetReplacesOnlyTheExpectedValue() throws Exception {
    try (Store store = open()) {
      assertThat(store.compareAndSet("k", bytes("1"), bytes("2"))).isFalse();
      assertThat(store.find("k")).isEmpty();
      store.put("k", bytes("1"));
      assertThat(store.compareAndSet("k", bytes("0"), bytes("2"))).isFalse();
      assertThat(store.compareAndSet("k", bytes("1"), bytes("2"))).isTrue();
      assertThat(store.find("k")).contains(bytes("2"));
      assertThatThrownBy(
              () -> store.compareAndSet("k", new byte[Store.MAX_VALUE_BYTES + 1], bytes("3")))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void noIncrementOfSeveralClientsIsLost() throws Exception {
    int each = 40;
    var counts = new ArrayList<CompletableFuture<Void>>();
    try (Store view = open()) {
      view.put("count", bytes("0"));
      for (int client = 0; client < 3; client++) {
        Store own = open();
        counts.add(CompletableFuture.runAsync(() -> increment(own, each)));
      }
      for (CompletableFuture<Void> count : counts) {
        count.get(60, TimeUnit.SECONDS);
      }
      assertThat(view.find("count")).contains(bytes("" + 3 * each));
    }
  }

  private static void increment(Store store, int times) {
    for (int done = 0; done < times; ) {
      byte[] before = store.find("count").orElseThrow();
      int next = Integer.parseInt(new String(before, StandardCharsets.UTF_8)) + 1;
      done += store.compareAndSet("count", before, bytes("" + next)) ? 1 : 0;
    }
  }

  @Test
  void awaitChangeReturnsTheChangedValue() throws Exception {
    try (Store reader = open();
        Store writer = open()) {
      assertThat(reader.awaitChange("watched", bytes("1"), SHORT)).isEmpty();
      writer.put("watched", bytes("1"));
      assertThat(reader.awaitChange("watched", bytes("1"), SHORT)).isEmpty();
      assertThat(reader.awaitChange("watched", bytes("0"), SHORT)).contains(bytes("1"));
      CompletableFuture<Optional<byte[]>> read =
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  return reader.awaitChange("watched", bytes("1"), LONG);
                } catch (InterruptedException interrupted) {
                  throw new IllegalStateException(interrupted);
                }
              });
      writer.put("watched", bytes("2"));
      assertThat(read.get(20, TimeUnit.SECONDS)).contains(bytes("2"));
    }
  }

  @Test
  void aDisconnectedClientReconnects() throws Exception {
    try (Store store = open()) {
      store.put("k", bytes("1"));
      store.disconnect();
      assertThat(store.find("k")).contains(bytes("1"));
      store.disconnect();
      store.disconnect();
      assertThat(store.compareAndSet("k", bytes("1"), bytes("2"))).isTrue();
      assertThat(store.get("k", SHORT)).isEqualTo(bytes("2"));
    }
  }

  @Test
  void storeKeepsItsOwnCopy() throws Exception {
    try (Store store = open()) {
      byte[] value = bytes("abc");
      store.put("copy", value);
      value[0] = 'X';
      store.get("copy", SHORT)[1] = 'X';
      assertThat(store.get("copy", SHORT)).isEqualTo(bytes("abc"));
    }
  }
}
