// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.config.ConfigOption;
import io.weft.config.Settings;
import io.weft.transport.TransportException;
import io.weft.verbs.memory.MemorySettings;
import io.weft.verbs.model.ThreadingModel;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class VerbsSettingsTest {

  private static VerbsSettings of(Map<String, String> environment) {
    return VerbsSettings.of(Settings.of(environment, new Properties()));
  }

  @Test
  void everySettingIsReadFromTheEnvironment() {
    Map<String, String> environment = new HashMap<>();
    List.of(
            "DEVICE=mlx5_1",
            "PORT=2",
            "GID_INDEX=3",
            "RING_BYTES=2M",
            "TIMEOUT=14",
            "RETRIES=5",
            "RECEIVER_RETRIES=6",
            "MODEL=2",
            "POOL_BYTES=8M",
            "CACHE_BYTES=0",
            "COPIED_BYTES=1K",
            "CHECK_FREED=true")
        .forEach(
            setting ->
                environment.put("WEFT_VERBS_" + setting.split("=")[0], setting.split("=")[1]));
    assertThat(environment.keySet())
        .containsExactlyInAnyOrderElementsOf(
            new VerbsConfig().options().stream().map(ConfigOption::variable).toList());
    assertThat(of(environment))
        .isEqualTo(
            new VerbsSettings(
                "mlx5_1",
                2,
                3,
                2 << 20,
                14,
                5,
                6,
                new MemorySettings(8L << 20, 0, 1024, true),
                ThreadingModel.POLLING_THREAD));
  }

  @Test
  void givenValuesOverridePropertiesWhichOverrideTheEnvironment() {
    var properties = new Properties();
    properties.setProperty("weft.verbs.gid.index", "5");
    properties.setProperty("weft.verbs.port", "5");
    Map<String, String> environment =
        Map.of("WEFT_VERBS_GID_INDEX", "4", "WEFT_VERBS_PORT", "4", "WEFT_VERBS_RETRIES", "4");
    VerbsSettings settings =
        VerbsSettings.of(Settings.of(environment, properties).with(VerbsConfig.GID_INDEX, 6));
    assertThat(settings.gidIndex()).isEqualTo(6);
    assertThat(settings.port()).isEqualTo(5);
    assertThat(settings.retries()).isEqualTo(4);
  }

  @ParameterizedTest
  @CsvSource({
    "WEFT_VERBS_PORT, x, a number from 0 to 255",
    "WEFT_VERBS_TIMEOUT, 32, a number from 1 to 31",
    "WEFT_VERBS_MODEL, 4, a number from 1 to 3",
    "WEFT_VERBS_RING_BYTES, 3145728, a power of two"
  })
  void anInvalidValueIsRefusedWithItsSourceAndTheAllowedValues(
      String variable, String value, String allowed) {
    assertThatThrownBy(() -> of(Map.of(variable, value)))
        .isInstanceOf(TransportException.DeviceLost.class)
        .hasMessageContaining(
            "'%s' from environment variable %s must be %s", value, variable, allowed);
  }
}
