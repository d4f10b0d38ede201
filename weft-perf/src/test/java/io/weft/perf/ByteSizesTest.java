// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class ByteSizesTest {

  @Test
  void listsAreSortedAndDuplicatesRemoved() {
    assertThat(ByteSizes.parse("1M,4,64K,4")).containsExactly(4L, 65_536L, 1_048_576L);
  }

  @Test
  void rangesAdvanceByPowersOfFour() {
    assertThat(ByteSizes.parse("4..64M"))
        .hasSize(13)
        .startsWith(4L, 16L, 64L)
        .endsWith(4L << 20, 16L << 20, 64L << 20);
  }

  @Test
  void aRangeEndsBelowABoundThatIsNotAPowerOfFourAway() {
    assertThat(ByteSizes.parse("4..100")).containsExactly(4L, 16L, 64L);
  }

  @Test
  void listsMayContainRangesAndUnitsInAnyCase() {
    assertThat(ByteSizes.parse("4, 1k..4KiB,2mb")).containsExactly(4L, 1024L, 4096L, 2L << 20);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "x",
        "4,,8",
        "-4",
        "4..",
        "..64M",
        "64M..4",
        "4...8",
        "3",
        "0",
        "6",
        "5G",
        "999999999999G",
        "4T",
        "1.5M"
      })
  void anInvalidSizeIsRefusedWithTheAllowedOnes(String text) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> ByteSizes.parse(text))
        .withMessageStartingWith("--bytes: ");
  }

  @ParameterizedTest
  @CsvSource({
    "4,4 B",
    "1024,1 KiB",
    "65540,65540 B",
    "67108864,64 MiB",
    "0,0 B",
    "4294967296,4 GiB"
  })
  void sizesAreFormattedExactly(long bytes, String text) {
    assertThat(ByteSizes.format(bytes)).isEqualTo(text);
  }
}
