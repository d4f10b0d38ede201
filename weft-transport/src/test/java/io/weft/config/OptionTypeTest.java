// SPDX-License-Identifier: Apache-2.0
package io.weft.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OptionTypeTest {

  @ParameterizedTest
  @CsvSource({"500ms, 500", "60s, 60000", "2m, 120000", "1h, 3600000", "1.5s, 1500"})
  void durationsAreParsed(String text, long millis) {
    assertThat(OptionType.duration().parse(text)).isEqualTo(Duration.ofMillis(millis));
  }

  @ParameterizedTest
  @CsvSource({"0, 0", "4096, 4096", "64K, 65536", "64KiB, 65536", "1m, 1048576", "2GB, 2147483648"})
  void sizesAreParsed(String text, long bytes) {
    assertThat(OptionType.bytes(0, 1L << 40).parse(text)).isEqualTo(bytes);
  }

  @Test
  void boundsAreWrittenWithTheirUnits() {
    assertThat(OptionType.bytes(0, 1L << 40).allowed()).isEqualTo("0 to 1024G");
    assertThat(OptionType.powerOfTwoBytes(1 << 19, 1 << 30).allowed())
        .isEqualTo("512K to 1G, a power of two");
    assertThat(OptionType.durationOrZero(20).allowed()).isEqualTo("0, or 20ms to 168h");
    assertThat(OptionType.choice(ConfigOption.Scope.class).allowed())
        .isEqualTo("RANK, JOB, PRESENCE");
  }

  @ParameterizedTest
  @CsvSource({"256, a number from 0 to 255", "first, a number from 0 to 255"})
  void aValueOutOfBoundsIsRefusedWithTheBounds(String text, String allowed) {
    assertThatThrownBy(() -> OptionType.number(0, 255).parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(allowed);
  }

  @Test
  void anOverrideTakesPrecedenceOverTheFoundValue() {
    ConfigOption<Integer> option = ConfigOption.of("some-number", OptionType.number(0, 9), "1", "");
    Settings found = Settings.of(Map.of("WEFT_SOME_NUMBER", "2"), new Properties());
    assertThat(Settings.defaults().required(option)).isEqualTo(1);
    assertThat(found.required(option)).isEqualTo(2);
    assertThat(found.with(option, 3).required(option)).isEqualTo(3);
  }

  @Test
  void aForeignVariableAppliesIfWeftsOwnIsUnset() {
    ConfigOption<Duration> option =
        ConfigOption.of("some-time", OptionType.duration(), "10s", "")
            .orVariable(ForeignVariable.inUnit("OTHER_TIME_SECONDS", "s"))
            .sameOn(ConfigOption.Scope.JOB);
    Settings foreign = Settings.of(Map.of("OTHER_TIME_SECONDS", "60"), new Properties());
    Settings both =
        Settings.of(Map.of("OTHER_TIME_SECONDS", "60", "WEFT_SOME_TIME", "5s"), new Properties());
    assertThat(foreign.required(option)).isEqualTo(Duration.ofSeconds(60));
    assertThat(both.required(option)).isEqualTo(Duration.ofSeconds(5));
    assertThat(Settings.defaults().required(option)).isEqualTo(Duration.ofSeconds(10));
  }

  @Test
  void theMessageNamesAnInvalidForeignVariable() {
    ConfigOption<Integer> option =
        ConfigOption.of("some-number", OptionType.number(0, 9), "1", "")
            .orVariable(ForeignVariable.named("OTHER_NUMBER"));
    Settings foreign = Settings.of(Map.of("OTHER_NUMBER", "many"), new Properties());
    assertThatThrownBy(() -> foreign.required(option))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'many' from environment variable OTHER_NUMBER");
  }
}
