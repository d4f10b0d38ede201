// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.frame;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.transport.RemoteRegion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

class CollectiveFrameTest {

  private final MemorySegment frame = Arena.ofAuto().allocate(8192);

  @Test
  void fieldsAreReadAsTheyWereSet() {
    CollectiveFrame.header(
        frame, CollectiveFrame.Type.GRANT, 1L << 63 | 5, 1, 0xCAFEBABE, -5L, 77, -9);
    assertThat(CollectiveFrame.type(frame)).isEqualTo(CollectiveFrame.Type.GRANT);
    assertThat(CollectiveFrame.stageIndex(frame)).isEqualTo(1);
    assertThat(CollectiveFrame.signature(frame)).isEqualTo(0xCAFEBABE);
    assertThat(CollectiveFrame.key(frame)).isEqualTo(-5L);
    assertThat(CollectiveFrame.sequence(frame)).isEqualTo(77);
    assertThat(CollectiveFrame.aux(frame)).isEqualTo(-9);
    assertThat(CollectiveFrame.communicator(frame)).isEqualTo(1L << 63 | 5);
  }

  @Test
  void aRegionTakes28Bytes() {
    RemoteRegion region = new RemoteRegion(1L << 50, 3, 4, -1);
    frame.set(ValueLayout.JAVA_BYTE, 32 + 28, (byte) 99);
    CollectiveFrame.region(frame, 32, region);
    assertThat(CollectiveFrame.region(frame, 32)).isEqualTo(region);
    assertThat(frame.get(ValueLayout.JAVA_BYTE, 32 + 28)).isEqualTo((byte) 99);
  }

  @Test
  void aLongTextIsCut() {
    int bytes = CollectiveFrame.text(frame, "x".repeat(10_000));
    assertThat(bytes).isEqualTo(CollectiveFrame.HEADER_BYTES + CollectiveFrame.MAX_TEXT_BYTES);
    assertThat(CollectiveFrame.text(frame.asSlice(0, bytes)))
        .hasSize(CollectiveFrame.MAX_TEXT_BYTES);
  }

  @Test
  void unknownTypesAndShortMessagesAreNull() {
    frame.set(ValueLayout.JAVA_BYTE, 1, (byte) 0);
    assertThat(CollectiveFrame.type(frame)).isNull();
    frame.set(ValueLayout.JAVA_BYTE, 1, (byte) (CollectiveFrame.Type.values().length + 1));
    assertThat(CollectiveFrame.type(frame)).isNull();
    frame.set(ValueLayout.JAVA_BYTE, 1, (byte) -1);
    assertThat(CollectiveFrame.type(frame)).isNull();
    assertThat(CollectiveFrame.type(frame.asSlice(0, CollectiveFrame.HEADER_BYTES - 1))).isNull();
    assertThat(CollectiveFrame.Progress.of(5)).isNull();
    assertThat(CollectiveFrame.Progress.of(-1)).isNull();
  }
}
