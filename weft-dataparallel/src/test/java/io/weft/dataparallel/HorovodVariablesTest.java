// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.WeftConfig;
import java.time.Duration;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.Test;

/// Checks Horovod's variables for which 0 means "off".
class HorovodVariablesTest {

  private static DataParallelOptions options(Map<String, String> environment) {
    return DataParallelOptions.of(WeftConfig.load(environment, new Properties()));
  }

  @Test
  void thresholdOfZeroTurnsFusionOff() {
    DataParallelOptions off = options(Map.of("HOROVOD_FUSION_THRESHOLD", "0"));
    assertThat(off.fusion()).isEqualTo(Fusion.OFF);
    assertThat(off.fusionThreshold()).isEqualTo(64L << 20);
    DataParallelOptions on = options(Map.of("HOROVOD_FUSION_THRESHOLD", "1048576"));
    assertThat(on.fusion()).isEqualTo(Fusion.AUTO);
    assertThat(on.fusionThreshold()).isEqualTo(1 << 20);
  }

  @Test
  void aSettingOfWeftHasPriority() {
    var both = Map.of("HOROVOD_FUSION_THRESHOLD", "0", "WEFT_FUSION", "on");
    assertThat(options(both).fusion()).isEqualTo(Fusion.ON);
  }

  @Test
  void stallCheckTimeOfZeroTurnsTheWarningOff() {
    for (String name : new String[] {"HOROVOD_STALL_CHECK_TIME_SECONDS", "WEFT_STALL_CHECK_TIME"}) {
      assertThat(options(Map.of(name, "0")).stallCheckTime())
          .isGreaterThanOrEqualTo(Duration.ofDays(7));
    }
    assertThat(options(Map.of("HOROVOD_STALL_CHECK_TIME_SECONDS", "3")).stallCheckTime())
        .isEqualTo(Duration.ofSeconds(3));
    assertThatThrownBy(() -> options(Map.of("HOROVOD_STALL_CHECK_TIME_SECONDS", "-1")))
        .hasMessageContaining("HOROVOD_STALL_CHECK_TIME_SECONDS");
  }
}
