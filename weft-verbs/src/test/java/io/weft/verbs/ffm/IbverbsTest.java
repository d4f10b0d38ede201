// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.ffm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class IbverbsTest {

  @Test
  void absentLibraryIsAValueWithAReasonAndARemedy() {
    assertThat(Ibverbs.load("libibverbs-absent.so.1"))
        .isInstanceOfSatisfying(
            Ibverbs.Loading.Missing.class,
            missing -> {
              assertThat(missing.reason()).contains("libibverbs-absent.so.1");
              assertThat(missing.remedy()).contains("rdma-core", "--transport tcp");
            });
  }

  @Test
  void theRefusalOfALibraryNamesItsMissingFunction() {
    assertThat(Ibverbs.load("libc.so.6"))
        .isInstanceOfSatisfying(
            Ibverbs.Loading.Missing.class,
            missing -> {
              assertThat(missing.reason()).contains("libc.so.6", "ibv_get_device_list");
              assertThat(missing.remedy()).contains("rdma-core 29");
            });
  }

  @Test
  void errorsAreDescribedInWords() {
    assertThat(Errno.words(12)).contains("12", "ENOMEM", "locked");
    assertThat(Errno.words(9999)).isEqualTo("errno 9999");
  }

  @Test
  void aRingEndsOneWaitOnly() {
    try (Descriptors descriptors = new Descriptors()) {
      descriptors.ring();
      descriptors.ring();
      long start = System.nanoTime();
      descriptors.await(30_000_000_000L);
      assertThat(System.nanoTime() - start).isLessThan(20_000_000_000L);
      start = System.nanoTime();
      descriptors.await(5_000_000);
      assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(4_000_000);
      descriptors.ring();
      start = System.nanoTime();
      descriptors.await(30_000_000_000L);
      assertThat(System.nanoTime() - start).isLessThan(20_000_000_000L);
    }
  }
}
