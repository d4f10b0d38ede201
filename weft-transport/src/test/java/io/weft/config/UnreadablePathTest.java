// SPDX-License-Identifier: Apache-2.0
package io.weft.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/// Checks that paths whose characters Java could not decode are refused.
class UnreadablePathTest {

  private static final String UNREADABLE = "/home/\ufffd\ufffd";

  @Test
  void relativePathInADirectoryWithoutAReadableNameIsRefused() {
    assertThatThrownBy(() -> OptionType.path("traces", UNREADABLE))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll(UNREADABLE, "encoding", "LC_ALL=C.UTF-8");
    assertThat(OptionType.path("/traces", UNREADABLE)).isEqualTo(Path.of("/traces"));
    assertThat(OptionType.path("traces", "/home/x")).isEqualTo(Path.of("traces"));
  }

  @Test
  void pathWithUnreadableLettersIsRefused() {
    assertThatThrownBy(() -> OptionType.path(UNREADABLE, "/home/x"))
        .hasMessageContainingAll("encoding", "LC_ALL=C.UTF-8");
    assertThatThrownBy(() -> OptionType.path("a\0b", "/home/x")).hasMessageContaining("not a path");
  }
}
