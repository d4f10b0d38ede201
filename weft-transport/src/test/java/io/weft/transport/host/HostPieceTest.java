// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.host;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HostPieceTest {

  @ParameterizedTest
  @CsvSource({
    "AuthenticAMD, 25, 524288, 262144",
    "AuthenticAMD, 26, 524288, 262144",
    "AuthenticAMD, 23, 131072, 131072",
    "AuthenticAMD, many, 131072, 131072",
    "GenuineIntel, 25, 131072, 131072"
  })
  void processorsDiffer(String vendor, String family, int bytes, int sendBytes) {
    String first = "processor\t: 0\nvendor_id\t: " + vendor + "\ncpu family\t: " + family;
    String others = "\n\nprocessor\t: 1\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\n";

    HostPiece piece = HostPiece.of((first + others).lines());

    assertThat(piece.bytes()).isEqualTo(bytes);
    assertThat(piece.sendBytes()).isEqualTo(sendBytes);
  }

  @Test
  void aMachineThatSaysLittleGetsShortOnes() {
    assertThat(HostPiece.of("".lines()).bytes()).isEqualTo(128 << 10);
    assertThat(HostPiece.of("Processor : ARMv8\nno colon".lines()).bytes()).isEqualTo(128 << 10);
  }

  @Test
  void aSettingGoesBeforeTheProcessor() {
    assertThat(HostPiece.of(Map.of("piece-bytes", "1048576"))).isEqualTo(new HostPiece(1 << 20));
    assertThat(HostPiece.of(Map.of("piece-bytes", "0"))).isEqualTo(HostPiece.of(Map.of()));
  }
}
