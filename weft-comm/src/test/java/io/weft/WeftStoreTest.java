// SPDX-License-Identifier: Apache-2.0
package io.weft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.cluster.LaunchEnvironment;
import io.weft.cluster.Store;
import io.weft.comm.CommException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks the store of a started job.
@Timeout(60)
class WeftStoreTest {

  private static final Duration LIMIT = Duration.ofSeconds(20);

  private static Weft join(int rank, Map<String, String> job) {
    Map<String, String> environment = new HashMap<>(job);
    environment.put("OMPI_COMM_WORLD_RANK", "" + rank);
    return Weft.init(
        WeftConfig.load(environment, new Properties()),
        LaunchEnvironment.detect(environment),
        environment);
  }

  private static Map<String, String> job(String where) throws Exception {
    Map<String, String> job = new HashMap<>();
    job.put("OMPI_COMM_WORLD_SIZE", "2");
    job.put("OMPI_COMM_WORLD_LOCAL_SIZE", "2");
    job.put("PMIX_NAMESPACE", "store-" + System.nanoTime());
    job.put("WEFT_TRANSPORT", "tcp");
    job.put("WEFT_START_DEADLINE", "20s");
    if (where.equals("address")) {
      try (var free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
        job.put("WEFT_STORE", "127.0.0.1:" + free.getLocalPort());
      }
      job.put("WEFT_SECRET", "a secret of sixteen bytes");
    }
    return job;
  }

  @ParameterizedTest
  @ValueSource(strings = {"directory", "address"})
  void storeServesUntilRankZeroLeaves(String where) throws Exception {
    Map<String, String> job = job(where);
    CompletableFuture<Weft> other = CompletableFuture.supplyAsync(() -> join(1, job));
    Weft zero = join(0, job);
    try (Weft one = other.get(30, TimeUnit.SECONDS)) {
      zero.store().put("k", new byte[] {1});
      assertThat(one.store().get("k", LIMIT)).isEqualTo(new byte[] {1});
      assertThat(one.store().compareAndSet("k", new byte[] {1}, new byte[] {2})).isTrue();
      assertThat(zero.store().awaitChange("k", new byte[] {1}, LIMIT)).contains(new byte[] {2});
      one.store().close();
      assertThat(one.store().find("k")).isPresent();
      assertThat(one.store().find("epoch/0/meeting/0/member/0")).isEmpty();

      CompletableFuture<Void> left = CompletableFuture.runAsync(zero::close);
      left.get(30, TimeUnit.SECONDS);
      assertThatThrownBy(() -> one.store().find("k"))
          .isInstanceOf(CommException.Setup.class)
          .hasMessageContaining("out of reach");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"directory", "address"})
  void keysArePreservedByteForByteAndInvalidOnesRefused(String where) throws Exception {
    Map<String, String> job = job(where);
    CompletableFuture<Weft> other = CompletableFuture.supplyAsync(() -> join(1, job));
    try (Weft zero = join(0, job);
        Weft one = other.get(30, TimeUnit.SECONDS)) {
      byte[] value = {1};
      String longest = "ü".repeat(Store.MAX_KEY_BYTES / 2);
      zero.store().put(longest, value);
      assertThat(one.store().get(longest, LIMIT)).isEqualTo(value);
      assertThat(one.store().compareAndSet(longest, value, value)).isTrue();
      one.store().remove(longest);
      assertThat(zero.store().find(longest)).isEmpty();
      for (String key : List.of("", longest + "k")) {
        assertThatIllegalArgumentException()
            .isThrownBy(() -> zero.store().put(key, value))
            .withMessageContaining("1 to 1024");
      }
      zero.store().put("null", value);
      assertThatNullPointerException()
          .isThrownBy(() -> one.store().put(null, value))
          .withMessage("key");
      assertThatNullPointerException().isThrownBy(() -> one.store().remove(null));
      assertThatNullPointerException().isThrownBy(() -> one.store().find(null));
      assertThatNullPointerException().isThrownBy(() -> one.store().put("null", null));
      assertThat(one.store().find("null")).contains(value);
    }
  }

  @Test
  void aJobOfOneRankHasAStore() {
    try (Weft weft =
        Weft.init(WeftConfig.builder().build(), LaunchEnvironment.detect(Map.of()), Map.of())) {
      weft.store().put("k", new byte[] {1});
      assertThat(weft.store().find("k")).contains(new byte[] {1});
    }
  }
}
