// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.comm.CommException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SlurmHostsTest {

  @Test
  void listsAndRangesAreExpanded() {
    assertThat(SlurmHosts.expand("gnode[10,20-22],login1", "LIST"))
        .containsExactly("gnode10", "gnode20", "gnode21", "gnode22", "login1");
  }

  @Test
  void leadingZerosAreKept() {
    assertThat(SlurmHosts.expand("n[008-011]", "LIST"))
        .containsExactly("n008", "n009", "n010", "n011");
  }

  @Test
  void severalBracketsInOneNameAreExpanded() {
    assertThat(SlurmHosts.expand("r[1-2]n[3,5]x", "LIST"))
        .containsExactly("r1n3x", "r1n5x", "r2n3x", "r2n5x");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "a,,b", "n[", "n]", "n[1-]", "n[2-1]", "n[a]", "n[1", "n[0-99999999]"})
  void malformedListIsNamed(String list) {
    assertThatThrownBy(() -> SlurmHosts.expand(list, "LIST"))
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining("LIST is '" + list + "'");
  }

  @Test
  void listsWithTooManyCharactersAreRefusedBeforeExpansion() {
    String one = "n".repeat(200) + "[10000-39999]";
    for (String list : List.of(one, "n".repeat(120) + "[10000-39999]," + one)) {
      assertThatThrownBy(() -> SlurmHosts.expand(list, "LIST"))
          .isInstanceOf(CommException.Setup.class)
          .hasMessageContaining("more than 4194304 characters in all");
    }
    assertThat(SlurmHosts.expand("n".repeat(59) + "[10000-65535]", "LIST")).hasSize(55_536);
  }

  @Test
  void namesThatAreTooLongAreRefusedBeforeExpansion() {
    for (String list :
        List.of("n".repeat(254), "n".repeat(10_000) + "[0-9999]", "[1]".repeat(20_000))) {
      assertThatThrownBy(() -> SlurmHosts.expand(list, "LIST"))
          .isInstanceOf(CommException.Setup.class)
          .hasMessageContaining("longer than 253 characters");
    }
  }
}
