// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DeviceNameTest {

  @ParameterizedTest
  @CsvSource({
    "/job:ps/replica:0/task:1/device:CPU:0, /job:ps/replica:0/task:1/device:CPU:0",
    "/job:ps, /job:ps",
    "/task:7, /task:7",
    "/device:GPU:*, /device:GPU:*",
    "/device:GPU, /device:GPU:*",
    "/device:*:2, /device:*:2",
    "/cpu:0, /device:CPU:0",
    "/gpu:*, /device:GPU:*",
    "/device:gpu:1/job:worker, /job:worker/device:GPU:1",
    "/job:*/replica:*/task:*/device:*:*, ''",
    "/, ''",
    "'', ''"
  })
  void deviceNameIsSpelledAsInTensorFlow(String name, String canonical) {
    assertThat(DeviceName.parse(name)).hasToString(canonical);
    assertThat(DeviceName.parse(canonical)).isEqualTo(DeviceName.parse(name));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "job:ps",
        "/job:",
        "/job:9",
        "/job:ps/task:x",
        "/task:-1",
        "/device:CPU:0x",
        "/cpu",
        "/job:ps//task:1",
        "/device:CPU:0:1",
        "/tpu:0",
        "/task:99999999999",
        "/job:ps "
      })
  void wrongNameIsRefusedWithItsWrongPart(String name) {
    assertThatThrownBy(() -> DeviceName.parse(name))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("device name '" + name + "' is wrong from '");
  }

  @ParameterizedTest
  @ValueSource(strings = {"/job:ps/job:worker", "/task:1/task:1", "/cpu:0/device:GPU:0"})
  void repeatedPartIsRefused(String name) {
    assertThatThrownBy(() -> DeviceName.parse(name))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(" repeats the part '/");
  }

  @ParameterizedTest
  @CsvSource({
    "/job:ps, /job:worker/task:3, /job:ps/task:3",
    "'', /job:worker/task:3, /job:worker/task:3",
    "/job:ps/task:1, '', /job:ps/task:1",
    "/device:GPU:1, /job:worker/device:CPU:0, /job:worker/device:GPU:1",
    "/device:GPU:*, /device:CPU:0, /device:GPU:0",
    "/job:a/replica:0/task:0, /job:b/replica:1/task:1/cpu:0, /job:a/replica:0/task:0/cpu:0"
  })
  void innerPartsOverrideOuterParts(String inner, String outer, String merged) {
    assertThat(DeviceName.parse(inner).within(DeviceName.parse(outer)))
        .isEqualTo(DeviceName.parse(merged));
  }

  @Test
  void localPartOmitsTheTask() {
    DeviceName name = DeviceName.parse("/job:ps/replica:0/task:1/device:CPU:0");
    assertThat(name.local()).hasToString("/device:CPU:0");
    assertThat(name.namesTask()).isTrue();
    assertThat(name.local().namesTask()).isFalse();
    assertThat(name.local().on(new Task("ps", 1))).isEqualTo(name);
  }
}
