// SPDX-License-Identifier: Apache-2.0
package io.weft.text;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PrintableTest {

  @Test
  void plainTextStaysTheSame() {
    String plain = "dense/kernel:0 Ärzte 汉字 🙂";
    assertThat(Printable.of(plain)).isSameAs(plain);
  }

  @Test
  void terminalControlCharactersAreReplaced() {
    assertThat(Printable.of("a\u001b[2Jb\rc\nd\te\u0000f\u007fg")).isEqualTo("a?[2Jb?c?d?e?f?g");
    assertThat(Printable.of("a\u009b2Jb\u0085c")).isEqualTo("a?2Jb?c");
    assertThat(Printable.of("a\u2028b\u2029c")).isEqualTo("a?b?c");
  }

  @Test
  void invisibleFormatCharactersAreReplaced() {
    assertThat(Printable.of("\u202egnp.exe\u202c \u2066x\u2069 \u200f\u200b\ufeff"))
        .isEqualTo("?gnp.exe? ?x? ???");
  }

  @Test
  void anUnpairedSurrogateIsReplaced() {
    assertThat(Printable.of("a\ud83db")).isEqualTo("a?b");
  }

  @Test
  void longTextIsCut() {
    assertThat(Printable.of("🙂🙂\n", 2)).isEqualTo("🙂🙂…");
    assertThat(Printable.of("🙂\n", 2)).isEqualTo("🙂?");
  }
}
