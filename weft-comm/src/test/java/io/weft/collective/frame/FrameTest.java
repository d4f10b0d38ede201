// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.frame;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.transport.RemoteRegion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

class FrameTest {

  private final MemorySegment frame = Arena.ofAuto().allocate(8192);

  @Test
  void fieldsComeBackAsTheyWereSet() {
    Frame.header(frame, Frame.Type.GRANT, 1L << 63 | 5, 1, 0xCAFEBABE, -5L, 77, -9);
    assertThat(Frame.type(frame)).isEqualTo(Frame.Type.GRANT);
    assertThat(Frame.phase(frame)).isEqualTo(1);
    assertThat(Frame.signature(frame)).isEqualTo(0xCAFEBABE);
    assertThat(Frame.key(frame)).isEqualTo(-5L);
    assertThat(Frame.sequence(frame)).isEqualTo(77);
    assertThat(Frame.aux(frame)).isEqualTo(-9);
    assertThat(Frame.communicator(frame)).isEqualTo(1L << 63 | 5);
  }

  @Test
  void aRegionTakes28Bytes() {
    RemoteRegion region = new RemoteRegion(1L << 50, 3, 4, -1);
    frame.set(ValueLayout.JAVA_BYTE, 32 + 28, (byte) 99);
    Frame.region(frame, 32, region);
    assertThat(Frame.region(frame, 32)).isEqualTo(region);
    assertThat(frame.get(ValueLayout.JAVA_BYTE, 32 + 28)).isEqualTo((byte) 99);
  }

  @Test
  void aLongTextIsCut() {
    int bytes = Frame.text(frame, "x".repeat(10_000));
    assertThat(bytes).isEqualTo(Frame.HEADER_BYTES + Frame.MAX_TEXT_BYTES);
    assertThat(Frame.text(frame.asSlice(0, bytes))).hasSize(Frame.MAX_TEXT_BYTES);
  }

  @Test
  void unknownTypesAndShortMessagesAreNull() {
    frame.set(ValueLayout.JAVA_BYTE, 1, (byte) 0);
    assertThat(Frame.type(frame)).isNull();
    frame.set(ValueLayout.JAVA_BYTE, 1, (byte) (Frame.Type.values().length + 1));
    assertThat(Frame.type(frame)).isNull();
    frame.set(ValueLayout.JAVA_BYTE, 1, (byte) -1);
    assertThat(Frame.type(frame)).isNull();
    assertThat(Frame.type(frame.asSlice(0, Frame.HEADER_BYTES - 1))).isNull();
    assertThat(Frame.Progress.of(5)).isNull();
    assertThat(Frame.Progress.of(-1)).isNull();
  }
}
