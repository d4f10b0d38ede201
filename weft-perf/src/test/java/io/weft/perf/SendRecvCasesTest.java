// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class SendRecvCasesTest {

  private static List<String> cases(String bytes, boolean asked, @Nullable String tensors) {
    return SendRecvCases.of(ByteSizes.parse(bytes), asked, tensors, null).stream()
        .map(one -> one.tensors() + "x" + one.bytes() + ":" + one.iterations())
        .toList();
  }

  @Test
  void manyTensorsAreSmallAndTheEmptyStepIsFirst() {
    assertThat(cases(Benchmark.SENDRECV.usualBytes(), false, null))
        .containsExactly(
            "0x0:1000",
            "1x4:1000",
            "1x256:1000",
            "1x4096:1000",
            "1x1048576:512",
            "1x16777216:32",
            "1x67108864:10",
            "100x4:300",
            "100x256:300",
            "100x4096:300",
            "1000x4:30",
            "1000x256:30",
            "1000x4096:30");
  }

  @Test
  void requestedCasesAreMeasured() {
    assertThat(cases("8,1M", true, "10,2"))
        .containsExactly("0x0:1000", "2x8:1000", "2x1048576:256", "10x8:1000", "10x1048576:51");
  }

  @Test
  void sizesAloneDoNotSelectManyLargeTensors() {
    assertThat(cases("8,64M", true, null))
        .containsExactly("0x0:1000", "1x8:1000", "1x67108864:10", "100x8:300", "1000x8:30");
  }

  @Test
  void aStepBeyondTheMemoryIsRefused() {
    assertThatThrownBy(() -> cases("64M", true, "1,1000"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("--tensors 1000, --bytes 67108864")
        .hasMessageContaining("67108864000 bytes; at most 1073741824");
  }
}
