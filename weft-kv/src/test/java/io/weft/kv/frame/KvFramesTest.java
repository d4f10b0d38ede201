// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.frame;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class KvFramesTest {

  private static final MemorySegment MEMORY = MemorySegment.ofArray(new byte[KvHead.BYTES]);

  @ParameterizedTest
  @EnumSource
  void aHeadIsReadAsItWasWritten(KvOp op) {
    boolean pushes = op.isNumbered();
    var head =
        new KvHead(
            op,
            new KvHead.Target(3, -5, 6, 12),
            new KvHead.Progress(pushes ? 9 : 0, pushes ? 7 : 0, 11),
            new KvHead.Listed(KvHead.Keys.NAMED, 4, -1, 1L << 63));
    head.write(MEMORY);
    assertThat(KvHead.read(MEMORY)).isEqualTo(head);
  }

  @Test
  void aMalformedHeadIsRefused() {
    new KvHead(
            KvOp.PUSH,
            new KvHead.Target(0, 1),
            new KvHead.Progress(1, 1, 0),
            new KvHead.Listed(KvHead.Keys.INLINE, 1, 0, 0))
        .write(MEMORY);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> KvHead.read(MEMORY.asSlice(1)))
        .withMessageContaining("75 bytes, expected 76");
    for (int at : new int[] {0, 1, 2, 7, 23, 31, 39, 59, 63, 67}) {
      MemorySegment wrong = MemorySegment.ofArray(MEMORY.toArray(JAVA_BYTE));
      wrong.set(JAVA_BYTE, at, (byte) 0x99);
      assertThatIllegalArgumentException().as("byte %d", at).isThrownBy(() -> KvHead.read(wrong));
    }
  }

  @Test
  void keysOfTablesAreReadAsTheyWereWritten() {
    List<TableKeys> all =
        List.of(
            new TableKeys(7, 3, MemorySegment.ofArray(new long[] {-1, 5, 9})),
            new TableKeys(-8, 0, MemorySegment.ofArray(new long[0])),
            new TableKeys(9, 1, MemorySegment.ofArray(new long[] {2})));
    MemorySegment payload = TableKeys.write(all);
    List<TableKeys> read = TableKeys.read(payload);
    assertThat(read).hasSize(3);
    for (int i = 0; i < 3; i++) {
      assertThat(read.get(i).table()).isEqualTo(all.get(i).table());
      assertThat(read.get(i).clock()).isEqualTo(all.get(i).clock());
      assertThat(read.get(i).keys().mismatch(all.get(i).keys())).isEqualTo(-1);
    }
    for (long bytes = 0; bytes < payload.byteSize(); bytes++) {
      MemorySegment torn = payload.asSlice(0, bytes);
      assertThatIllegalArgumentException().isThrownBy(() -> TableKeys.read(torn));
    }
    for (int at : new int[] {7, 23, 31}) {
      MemorySegment wrong = MemorySegment.ofArray(payload.toArray(JAVA_BYTE));
      wrong.set(JAVA_BYTE, at, (byte) 0x99);
      assertThatIllegalArgumentException().isThrownBy(() -> TableKeys.read(wrong));
    }
  }

  @Test
  void aReplyIsReadAsItWasWrittenAndALongTextLosesItsMiddle() {
    KvReply reply = KvReply.refused("key 3 at 1 comes after 7 \u2603");
    assertThat(KvReply.read(reply.encode())).isEqualTo(reply);
    assertThat(KvReply.read(KvReply.done(1L << 40).encode())).isEqualTo(KvReply.done(1L << 40));
    String cut = KvReply.read(KvReply.refused("\u2603".repeat(2000)).encode()).text();
    assertThat(cut).hasSizeBetween(900, 1012);
    String why = "cannot read /" + "directory/".repeat(300) + "manifest: it is torn";
    assertThat(KvReply.read(KvReply.refused(why).encode()).text())
        .startsWith("cannot read /directory")
        .contains(" ... ")
        .endsWith("manifest: it is torn");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> KvReply.read(MemorySegment.ofArray(new byte[11])));
  }
}
