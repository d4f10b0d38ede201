// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.vehicles;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.workloads.data.DataException;
import io.weft.workloads.data.Examples;
import io.weft.workloads.data.Floats;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AcousticFilesTest {

  @TempDir Path directory;

  @Test
  void valuesStandWhereTheirIndicesSay() throws IOException {
    write("3 1:-0.25 50:1e-3 \n\n1 2:.5\r\n2.0\n");
    Examples train = new AcousticFiles(directory).train();
    assertThat(train.labels()).containsExactly(2, 0, 1);
    assertThat(train.classes()).isEqualTo(3);
    assertThat(Floats.get(train.values(), 0, 0)).isEqualTo(-0.25f);
    assertThat(Floats.get(train.values(), 0, 49)).isEqualTo(1e-3f);
    assertThat(Floats.get(train.values(), train.features(), 1)).isEqualTo(0.5f);
    assertThat(Floats.get(train.values(), 2 * train.features(), 1)).isZero();
    assertThat(new AcousticFiles(directory).test()).isEqualTo(train);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "1 0:1       | rising indices of 1 to 50 in line 2, found '0:1'",
        "1 51:1      | rising indices of 1 to 50 in line 2, found '51:1'",
        "1 2:1 2:1   | rising indices of 1 to 50 in line 2, found '2:1'",
        "1 3:1 2:1   | rising indices of 1 to 50 in line 2, found '2:1'",
        "1 -2:1      | rising indices of 1 to 50 in line 2, found '-2:1'",
        "1 x:1       | rising indices of 1 to 50 in line 2, found 'x:1'",
        "1 7         | a finite number as value of feature 7 in line 2, found '7'",
        "1 7:        | a finite number as value of feature 7 in line 2, found '7:'",
        "1 7:nan     | a finite number as value of feature 7 in line 2, found '7:nan'",
        "1 9999999999:1 | rising indices of 1 to 50 in line 2",
        "0 1:1       | a label of 1 to 3 in line 2, found '0'",
        "4 1:1       | a label of 1 to 3 in line 2, found '4'",
        "1.5 1:1     | a label of 1 to 3 in line 2, found '1.5'",
        "1:1 2:1     | a label of 1 to 3 in line 2, found '1:1'",
      })
  void aWrongLineIsNamed(String line, String message) throws IOException {
    write("1 1:1\n" + line + "\n");
    assertThatThrownBy(() -> new AcousticFiles(directory).check())
        .isInstanceOf(DataException.Malformed.class)
        .hasMessageContaining(message);
    assertThatThrownBy(() -> new AcousticFiles(directory).train()).hasMessageContaining(message);
  }

  @Test
  void anEmptyFileIsRefused() throws IOException {
    write("\n");
    assertThatThrownBy(() -> new AcousticFiles(directory).check())
        .hasMessageContaining("found an empty file");
  }

  private void write(String text) throws IOException {
    Files.writeString(directory.resolve("acoustic_scale"), text);
    Files.writeString(directory.resolve("acoustic_scale.t"), text);
  }
}
