// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.channel;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.transport.RemoteRegion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ChannelFrameTest {

  private static final RemoteRegion REGION = new RemoteRegion(1L << 40, 70_000, -3, 99);

  private final ChannelFrame.Writer out =
      new ChannelFrame.Writer(Arena.ofAuto().allocate(4096, 64));
  private final ChannelFrame.Reader in = new ChannelFrame.Reader();

  private static MemorySegment bytes(int count) {
    byte[] bytes = new byte[count];
    new Random(count).nextBytes(bytes);
    return MemorySegment.ofArray(bytes);
  }

  private static List<ChannelFrame> all() {
    return List.of(
        new ChannelFrame.Asked(1, 16, 10, 0, null, null, bytes(10)),
        new ChannelFrame.Asked(2, 16, 10, 90, null, REGION, bytes(100)),
        new ChannelFrame.Asked(-3, 16, 0, 70_000, REGION, null, bytes(0)),
        new ChannelFrame.Asked(4, 16, 7, 70_000, REGION, REGION, bytes(7)),
        new ChannelFrame.Answered(5, 0, bytes(0)),
        new ChannelFrame.Answered(6, 1L << 33, bytes(1024)),
        new ChannelFrame.Refused(7, "no such row"),
        new ChannelFrame.Withdrawn(8));
  }

  private MemorySegment message() {
    out.begin();
    all().forEach(frame -> assertThat(out.write(frame)).isTrue());
    return out.end();
  }

  private List<String> read(MemorySegment message) {
    in.begin(message);
    List<String> seen = new ArrayList<>();
    for (ChannelFrame frame = in.next(); frame != null; frame = in.next()) {
      seen.add(text(frame));
    }
    return seen;
  }

  private static String text(ChannelFrame frame) {
    return switch (frame) {
      case ChannelFrame.Asked a ->
          "%d %d %d %s %s %s"
              .formatted(
                  a.token(), a.headBytes(), a.payloadBytes(), a.from(), a.into(), hash(a.body()));
      case ChannelFrame.Answered a -> "%d %d %s".formatted(a.token(), a.written(), hash(a.body()));
      case ChannelFrame.Refused r -> r.token() + r.why();
      case ChannelFrame.Withdrawn w -> "" + w.token();
    };
  }

  private static String hash(MemorySegment body) {
    return body.byteSize() + "/" + java.util.Arrays.hashCode(body.toArray(ValueLayout.JAVA_BYTE));
  }

  @Test
  void framesAreReadAsTheyWereWritten() {
    List<String> seen = read(message());
    assertThat(in.isSound()).isTrue();
    assertThat(seen).isEqualTo(all().stream().map(ChannelFrameTest::text).toList());
  }

  @Test
  void aFrameThatDoesNotFitIsNotWritten() {
    out.begin();
    int written = 0;
    while (out.write(new ChannelFrame.Answered(written, 0, bytes(1000)))) {
      written++;
    }
    assertThat(written).isEqualTo(out.items()).isEqualTo(4);
    assertThat(read(out.end())).hasSize(4);
    assertThat(in.isSound()).isTrue();
  }

  @Test
  void cutAndChangedMessagesAreUnsoundOrWithinTheirBounds() {
    byte[] whole = message().toArray(ValueLayout.JAVA_BYTE);
    Random random = new Random(3);
    for (int i = 0; i < 100_000; i++) {
      byte[] changed = java.util.Arrays.copyOf(whole, random.nextInt(whole.length + 1));
      for (int n = random.nextInt(4); n > 0 && changed.length > 0; n--) {
        changed[random.nextInt(Math.min(changed.length, 60))] = (byte) random.nextInt();
      }
      in.begin(MemorySegment.ofArray(changed));
      for (ChannelFrame frame = in.next(); frame != null; frame = in.next()) {
        if (frame instanceof ChannelFrame.Asked asked) {
          long there = asked.from() == null ? asked.payloadBytes() : 0;
          assertThat(asked.body().byteSize()).isEqualTo(asked.headBytes() + there);
          assertThat(asked.headBytes()).isBetween(0, RequestChannel.MAX_HEAD_BYTES);
        }
      }
      if (changed.length < whole.length && changed.length > 4 && changed[2] == whole[2]) {
        assertThat(changed[3] == whole[3] && in.isSound())
            .as("cut at %d", changed.length)
            .isFalse();
      }
    }
  }
}
