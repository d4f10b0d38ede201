// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.ConfigOption;
import io.weft.WeftConfig;
import io.weft.transport.TransportException;
import io.weft.verbs.memory.MemorySettings;
import io.weft.verbs.model.ThreadingModel;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class VerbsSettingsTest {

  private static VerbsSettings of(Map<String, String> environment) {
    return VerbsSettings.of(Map.of(), environment, new Properties());
  }

  @Test
  void theirDefaultsAreThoseOfTheSettings() {
    WeftConfig defaults = WeftConfig.load(Map.of(), new Properties());
    Map<String, String> given = defaults.ofTransport("verbs");
    assertThat(VerbsSettings.of(given, Map.of(), new Properties())).isEqualTo(of(Map.of()));
  }

  @Test
  void everySettingOfTheSchemeArrives() {
    WeftConfig config =
        WeftConfig.builder()
            .set(ConfigOption.VERBS_DEVICE, "mlx5_1")
            .set(ConfigOption.VERBS_PORT, "2")
            .set(ConfigOption.VERBS_GID_INDEX, "3")
            .set(ConfigOption.VERBS_RING_BYTES, "2M")
            .set(ConfigOption.VERBS_TIMEOUT, "14")
            .set(ConfigOption.VERBS_RETRIES, "5")
            .set(ConfigOption.VERBS_RECEIVER_RETRIES, "6")
            .set(ConfigOption.VERBS_MODEL, "2")
            .set(ConfigOption.VERBS_POOL_BYTES, "8M")
            .set(ConfigOption.VERBS_CACHE_BYTES, "0")
            .build();
    assertThat(VerbsSettings.of(config.ofTransport("verbs"), Map.of(), new Properties()))
        .isEqualTo(
            new VerbsSettings(
                "mlx5_1",
                2,
                3,
                2 << 20,
                14,
                5,
                6,
                new MemorySettings(8L << 20, 0),
                ThreadingModel.POLLING_THREAD));
  }

  @Test
  void whatIsGivenGoesBeforePropertiesAndThoseBeforeTheEnvironment() {
    var properties = new Properties();
    properties.setProperty("weft.verbs.gid.index", "5");
    properties.setProperty("weft.verbs.port", "5");
    VerbsSettings settings =
        VerbsSettings.of(
            Map.of("gid-index", "6"),
            Map.of("WEFT_VERBS_GID_INDEX", "4", "WEFT_VERBS_PORT", "4", "WEFT_VERBS_RETRIES", "4"),
            properties);
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
  void aBadValueIsRefusedWithItsPlaceAndWhatIsAllowed(
      String variable, String value, String allowed) {
    assertThatThrownBy(() -> of(Map.of(variable, value)))
        .isInstanceOf(TransportException.DeviceLost.class)
        .hasMessage("%s is '%s', allowed is %s", variable, value, allowed);
    assertThatThrownBy(() -> VerbsSettings.of(Map.of("retries", "9"), Map.of(), new Properties()))
        .hasMessage("option verbs-retries is '9', allowed is a number from 0 to 7");
  }
}
