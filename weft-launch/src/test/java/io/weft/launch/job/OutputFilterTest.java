// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.job;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class OutputFilterTest {

  private static final String JAVA = "WARNING: Using incubator modules: jdk.incubator.vector\n";
  private static final String TENSORFLOW = "I0000 00:00:1795.82 27316 pass.cc:401] not enabled\n";

  private static InputStream stream(String text) {
    return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
  }

  private static String java(String text) throws Exception {
    return new String(
        OutputFilter.withoutJavas(stream(text)).readAllBytes(), StandardCharsets.UTF_8);
  }

  private static String both(String text) throws Exception {
    return new String(
        OutputFilter.withoutTensorFlows(stream(text)).readAllBytes(), StandardCharsets.UTF_8);
  }

  @Test
  void noticesAreRemovedAtAnyPosition() throws Exception {
    assertThat(java(JAVA + "a\n" + JAVA + "b\n" + TENSORFLOW)).isEqualTo("a\nb\n" + TENSORFLOW);
    assertThat(both(JAVA + "a\n" + TENSORFLOW + "\rredrawn\r" + TENSORFLOW + "b"))
        .isEqualTo("a\n\rredrawn\rb");
  }

  @Test
  void textThatOnlyBeginsLikeANoticePasses() throws Exception {
    assertThat(java("WARNING: Using\n")).isEqualTo("WARNING: Using\n");
    assertThat(both("W\n\nI0000 01:\nWARNING: Us")).isEqualTo("W\n\nI0000 01:\nWARNING: Us");
    assertThat(java("")).isEmpty();
    assertThat(java(JAVA.strip())).isEmpty();
  }

  @Test
  void noByteIsLostAcrossChunks() throws Exception {
    String text = ("x".repeat(8000) + "\n" + JAVA).repeat(20);
    assertThat(java(text)).isEqualTo(("x".repeat(8000) + "\n").repeat(20));
  }
}
