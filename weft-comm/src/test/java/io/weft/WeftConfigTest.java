// SPDX-License-Identifier: Apache-2.0
package io.weft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.cluster.JobConfig;
import io.weft.cluster.elastic.ElasticConfig;
import io.weft.cluster.elastic.OnFailure;
import io.weft.cluster.elastic.ShrinkQuorum;
import io.weft.comm.CommException;
import io.weft.config.ConfigOption;
import io.weft.config.OptionProvider;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WeftConfigTest {

  private static Properties properties(String... keysAndValues) {
    var properties = new Properties();
    for (int i = 0; i < keysAndValues.length; i += 2) {
      properties.setProperty(keysAndValues[i], keysAndValues[i + 1]);
    }
    return properties;
  }

  @Test
  void aTransportsNameMayHaveSeveralWords() {
    assertThat(WeftConfig.builder().transport("faulty-tcp").build().transport())
        .isEqualTo("faulty-tcp");
  }

  @Test
  void defaultsApplyWithoutSettings() {
    WeftConfig config = WeftConfig.load(Map.of(), new Properties());
    assertThat(config.transport()).isEqualTo("auto");
    assertThat(config.deadline()).isEqualTo(Duration.ofSeconds(60));
    assertThat(config.startDeadline()).isEqualTo(Duration.ofSeconds(60));
    assertThat(config.heartbeat()).isEqualTo(Duration.ofSeconds(1));
    assertThat(config.silenceLimit()).isEqualTo(Duration.ofSeconds(5));
    assertThat(config.onFailure()).isEqualTo(OnFailure.END);
    assertThat(config.shrinkQuorum()).isEqualTo(ShrinkQuorum.MAJORITY);
    assertThat(config.bind()).isEmpty();
    assertThat(config.secretFile()).isEmpty();
    assertThat(config.store()).isEmpty();
    assertThat(config.job()).isEmpty();
    assertThat(config.spin()).isEmpty();
    assertThat(config.poolBytes()).isEqualTo(512L << 20);
    assertThat(config.eagerBytes()).isEmpty();
    assertThat(config.segmentBytes()).isEmpty();
  }

  @Test
  void eachOptionHasOneNameEverywhere() {
    assertThat(JobConfig.START_DEADLINE.flag()).isEqualTo("--start-deadline");
    assertThat(JobConfig.START_DEADLINE.variable()).isEqualTo("WEFT_START_DEADLINE");
    assertThat(JobConfig.START_DEADLINE.property()).isEqualTo("weft.start.deadline");
    assertThat(OptionProvider.all()).extracting(ConfigOption::name).doesNotHaveDuplicates();
  }

  @Test
  void aByteOrderMarkBeforeTheFirstSettingIsIgnored(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("weft.properties");
    Files.writeString(file, "\uFEFFweft.job=marked\n");
    WeftConfig config =
        WeftConfig.load(Map.of("WEFT_CONFIG_FILE", file.toString()), new Properties());
    assertThat(config.job()).contains("marked");
  }

  @Test
  void precedenceIsPropertyThenEnvironmentThenFile(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("weft.properties");
    Files.writeString(file, "weft.deadline=1s\nweft.start.deadline=1s\nweft.job=file\n");
    WeftConfig config =
        WeftConfig.load(
            Map.of(
                "WEFT_CONFIG_FILE",
                file.toString(),
                "WEFT_DEADLINE",
                "2s",
                "WEFT_START_DEADLINE",
                "2s"),
            properties("weft.deadline", "3s"));
    assertThat(config.deadline()).isEqualTo(Duration.ofSeconds(3));
    assertThat(config.startDeadline()).isEqualTo(Duration.ofSeconds(2));
    assertThat(config.job()).contains("file");
  }

  @Test
  void valuesSetByTheProgramTakePrecedence() {
    System.setProperty("weft.segment.bytes", "8K");
    try {
      assertThat(WeftConfig.builder().segmentBytes(4096).build().segmentBytes()).hasValue(4096);
      assertThat(WeftConfig.builder().build().segmentBytes()).hasValue(8192);
    } finally {
      System.clearProperty("weft.segment.bytes");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "WEFT_DEADLINE, 60, a duration such as",
    "WEFT_DEADLINE, 0s, more than 0",
    "WEFT_DEADLINE, -1s, a duration such as",
    "WEFT_DEADLINE, 999999999999999h, not that large",
    "WEFT_START_DEADLINE, soon, a duration such as",
    "WEFT_HEARTBEAT, 5ms, 0, or from 20ms",
    "WEFT_SILENCE_LIMIT, 1ms, 0, or from 40ms",
    "WEFT_SILENCE_LIMIT, 200h, 0, or from 40ms",
    "WEFT_ON_FAILURE, restart, shrink",
    "WEFT_SHRINK_QUORUM, most, majority",
    "WEFT_CONNECTIONS, some, used",
    "WEFT_TRANSPORT, TCP/IP, auto or a transport's name",
    "WEFT_SPIN, many, auto or a count",
    "WEFT_POOL_BYTES, 1, from 1048576",
    "WEFT_EAGER_BYTES, 8X, a size such as",
    "WEFT_STORE, node7, HOST:PORT",
    "WEFT_STORE, node7:99999, HOST:PORT"
  })
  void theErrorForABadValueNamesOptionOriginValueAndRange(
      String variable, String value, String allowed) {
    assertThatThrownBy(() -> WeftConfig.load(Map.of(variable, value), new Properties()))
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining(
            "option " + variable.substring(5).toLowerCase(java.util.Locale.ROOT).replace('_', '-'))
        .hasMessageContaining("environment variable " + variable)
        .hasMessageContaining("'" + value + "'")
        .hasMessageContaining(allowed);
  }

  @Test
  void onFailureIsReadAndGivenAsOneWord() {
    assertThat(WeftConfig.load(Map.of("WEFT_ON_FAILURE", "shrink"), new Properties()).onFailure())
        .isEqualTo(OnFailure.SHRINK);
    assertThat(WeftConfig.builder().onFailure(OnFailure.SHRINK).build().onFailure())
        .isEqualTo(OnFailure.SHRINK);
    assertThat(ElasticConfig.ON_FAILURE.flag()).isEqualTo("--on-failure");
  }

  @Test
  void silenceLimitOfLessThanTwoHeartbeatsIsRefused() {
    assertThatThrownBy(
            () -> WeftConfig.load(Map.of("WEFT_SILENCE_LIMIT", "1999ms"), new Properties()))
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining("silence-limit: 1999 ms is less than two heartbeats of 1000 ms");
    assertThat(WeftConfig.load(Map.of("WEFT_SILENCE_LIMIT", "2s"), new Properties()).heartbeat())
        .isEqualTo(Duration.ofSeconds(1));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "1M | 4K | eager-bytes: 1048576 is more than segment-bytes, 4096",
        "auto | 5000 | segment-bytes: 5000 is not a multiple of 64; allowed are 4992 or 5056"
      })
  void inconsistentSegmentSizesAreRefused(String eager, String segment, String message) {
    Map<String, String> environment =
        Map.of("WEFT_EAGER_BYTES", eager, "WEFT_SEGMENT_BYTES", segment);
    assertThatThrownBy(() -> WeftConfig.load(environment, new Properties()))
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining(message);
  }

  @Test
  void zeroDisablesHeartbeatAndSilenceLimit() {
    assertThat(WeftConfig.load(Map.of("WEFT_HEARTBEAT", "0"), new Properties()).heartbeat())
        .isEqualTo(Duration.ZERO);
    assertThat(WeftConfig.load(Map.of("WEFT_SILENCE_LIMIT", "0s"), new Properties()).silenceLimit())
        .isEqualTo(Duration.ZERO);
  }

  @Test
  void unknownKeyInFileIsNamed(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("weft.properties");
    Files.writeString(file, "weft.dedline=1s\n");
    assertThatThrownBy(
            () -> WeftConfig.load(Map.of(), properties("weft.config.file", file.toString())))
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining("'weft.dedline' (did you mean weft.deadline?); known are ");
  }

  @Test
  void unknownVariablesAreReportedWithSuggestions() {
    Map<String, String> environment =
        Map.of(
            "WEFT_DEDLINE",
            "1s",
            "WEFT_DEADLINE",
            "1s",
            "WEFT_RANK",
            "0",
            "WEFT_QQQ",
            "",
            "WEFT_TEST_QQQ",
            "",
            "HOME",
            "");
    assertThat(SettingsFile.unknownVariables(environment))
        .isEqualTo("WEFT_DEDLINE (did you mean WEFT_DEADLINE?), WEFT_QQQ");
  }

  @Test
  void missingFileIsNamed() {
    assertThatThrownBy(
            () -> WeftConfig.load(Map.of("WEFT_CONFIG_FILE", "/nowhere/w"), new Properties()))
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining("/nowhere/w")
        .hasMessageContaining("WEFT_CONFIG_FILE");
  }

  @Test
  void aFileThatIsNotRegularIsRefused() {
    assertThatThrownBy(
            () -> WeftConfig.load(Map.of("WEFT_CONFIG_FILE", "/dev/zero"), new Properties()))
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining("/dev/zero")
        .hasMessageContaining("cannot be read: it is a FIFO, a socket or a device");
  }

  @Test
  void toStringDoesNotContainTheSecret() {
    WeftConfig config =
        WeftConfig.load(Map.of("WEFT_SECRET", "a-very-secret-secret"), new Properties());
    assertThat(config.toString()).contains("deadline=PT1M").doesNotContain("very-secret");
  }
}
