// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.verbs.device.DeviceLimits;
import io.weft.verbs.device.VerbsException;
import org.junit.jupiter.api.Test;

class PeerLimitsTest {

  private static final int MANY = 1 << 20;

  private static DeviceLimits device(int queues, int receives, int completions) {
    return new DeviceLimits(MANY, MANY, completions, queues, receives, Long.MAX_VALUE, 16, 1);
  }

  /// The limits of Soft-RoCE, and those of the longest queues.
  @Test
  void theQueuesSufficeForTheGoal() {
    assertThat(new PeerLimits("rxe0", MANY, 32_767, 16_383).refusal(511)).isEmpty();
    assertThat(new PeerLimits("mlx5_0", MANY, 65_535, 16_383).refusal(1000)).isEmpty();
  }

  @Test
  void tooFewQueuePairsAreRefusedWithTheLimitAndTheRemedy() {
    PeerLimits limits = new PeerLimits("rxe0", 100, MANY, MANY);
    assertThat(limits.refusal(100)).isEmpty();
    assertThat(limits.refusal(101))
        .isEqualTo(
            "101 peers of this rank need 101 queue pairs, and rxe0 has 100 (max_qp); use fewer"
                + " ranks, the setting connections=used, or --transport tcp");
  }

  @Test
  void aShortCompletionQueueIsRefusedWithTheLimit() {
    PeerLimits limits = new PeerLimits("rxe0", MANY, 32_767, MANY);
    assertThat(limits.refusal(511)).isEmpty();
    assertThat(limits.refusal(512))
        .contains(
            "512 peers of this rank need 32768 entries of the completion queue",
            "rxe0 has 32767 (max_cqe, at most 65536)");
  }

  @Test
  void aShortReceiveQueueIsRefusedWithTheLimit() {
    PeerLimits limits = new PeerLimits("rxe0", MANY, MANY, 1023);
    assertThat(limits.refusal(127)).isEmpty();
    assertThat(limits.refusal(128))
        .contains(
            "need 1024 receives of the shared receive queue",
            "has 1023 (max_srq_wr, at most 16383)");
  }

  @Test
  void aDeviceWithoutASharedReceiveQueueIsRefused() {
    assertThat(Adapter.receives("rxe0", device(1, MANY, MANY))).isEqualTo(16_383);
    assertThat(Adapter.receives("rxe0", device(1, 1000, MANY))).isEqualTo(1000);
    assertThat(Adapter.receives("rxe0", device(1, MANY, 1000))).isEqualTo(500);
    for (DeviceLimits limits :
        new DeviceLimits[] {device(0, 0, MANY), device(1, 7, MANY), device(1, MANY, 15)}) {
      assertThatThrownBy(() -> Adapter.receives("efa_0", limits))
          .isInstanceOf(VerbsException.class)
          .hasMessageContainingAll(
              "efa_0 allows", "(max_srq)", "(max_srq_wr)", "at least 8", "--transport tcp");
    }
  }
}
