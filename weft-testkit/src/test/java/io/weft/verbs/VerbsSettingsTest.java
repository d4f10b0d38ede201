// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.transport.TransportException;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class VerbsSettingsTest {

  @Test
  void whatNobodySetsHasADefault() {
    VerbsSettings settings = VerbsSettings.of(Map.of(), new Properties());
    assertThat(settings).isEqualTo(new VerbsSettings("", 0, -1, 1 << 20, 16, 7, 7));
    assertThat(settings.queuePair().sends()).isEqualTo(VerbsSettings.SENDS);
  }

  @Test
  void propertiesGoBeforeTheEnvironment() {
    Properties properties = new Properties();
    properties.setProperty("weft.verbs.gid.index", "3");
    VerbsSettings settings =
        VerbsSettings.of(
            Map.of("WEFT_VERBS_GID_INDEX", "5", "WEFT_VERBS_DEVICE", "mlx5_1"), properties);
    assertThat(settings.gidIndex()).isEqualTo(3);
    assertThat(settings.device()).isEqualTo("mlx5_1");
  }

  @ParameterizedTest
  @CsvSource({
    "WEFT_VERBS_TIMEOUT, 32, from 1 to 31",
    "WEFT_VERBS_RETRIES, many, from 0 to 7",
    "WEFT_VERBS_RECEIVER_RETRIES, -1, from 0 to 7",
    "WEFT_VERBS_PORT, 256, from 0 to 255",
    "WEFT_VERBS_RING_BYTES, 1000000, a power of two",
    "WEFT_VERBS_RING_BYTES, 1024, from 524288"
  })
  void valueThatIsNotAllowedIsRefusedByName(String variable, String value, String allowed) {
    assertThatThrownBy(() -> VerbsSettings.of(Map.of(variable, value), new Properties()))
        .isInstanceOf(TransportException.DeviceLost.class)
        .hasMessageContainingAll(variable, "'" + value + "'", allowed);
  }
}
