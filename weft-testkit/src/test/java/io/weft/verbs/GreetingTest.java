// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.verbs.device.Gid;
import io.weft.verbs.device.QueuePairAddress;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import org.junit.jupiter.api.Test;

class GreetingTest {

  private static final Gid GID = new Gid(0, 0, 0xFFFF_0A4D_0001L, Gid.Type.ROCE_V2);
  private static final Greeting HELLO =
      new Greeting.Hello(
          0x1122_3344_5566_7788L,
          new QueuePairAddress(17, 0xABCDEF, 9, GID, 5),
          0x7F00_0000_1000L,
          0xCAFE,
          1 << 20,
          128);

  @Test
  void whatIsEncodedIsDecoded() throws VerbsFault {
    assertThat(Greeting.decode(HELLO.encode())).isEqualTo(HELLO);
    assertThat(Greeting.decode(new Greeting.Verdict("").encode()))
        .isEqualTo(new Greeting.Verdict(""));
    assertThat(Greeting.decode(new Greeting.Farewell("a frame").encode()))
        .isEqualTo(new Greeting.Farewell("a frame"));
  }

  /// The byte table of docs/protocol/verbs.md.
  @Test
  void helloLiesAsItIsDocumented() {
    MemorySegment message = HELLO.encode();
    assertThat(message.byteSize()).isEqualTo(72);
    assertThat(message.asSlice(0, 8).toArray(ValueLayout.JAVA_BYTE))
        .isEqualTo(new byte[] {'V', 'E', 'R', 'B', 1, 1, 0, 0});
    assertThat(message.get(Frame.LONG, 8)).isEqualTo(0x1122_3344_5566_7788L);
    assertThat(message.get(Frame.LONG, 24)).isEqualTo(0xFFFF_0A4D_0001L);
    assertThat(message.get(Frame.INT, 52)).isEqualTo(17);
    assertThat(message.get(Frame.INT, 68)).isEqualTo(2);
  }

  @Test
  void overlongTextIsCutAndUnprintableTextReplaced() throws VerbsFault {
    MemorySegment message = new Greeting.Verdict("x".repeat(2000) + "y").encode();
    assertThat(((Greeting.Verdict) Greeting.decode(message)).problem()).hasSize(512);
    message.set(ValueLayout.JAVA_BYTE, 8, (byte) 7);
    assertThat(((Greeting.Verdict) Greeting.decode(message)).problem()).startsWith("?x");
  }

  @Test
  void whatDoesNotParseIsAFault() {
    for (long bytes : new long[] {0, 7, 8, 71}) {
      MemorySegment cut = HELLO.encode().asSlice(0, bytes);
      assertThatThrownBy(() -> Greeting.decode(cut)).isInstanceOf(VerbsFault.class);
    }
    MemorySegment other = HELLO.encode();
    other.set(ValueLayout.JAVA_BYTE, 4, (byte) 2);
    assertThatThrownBy(() -> Greeting.decode(other))
        .isInstanceOf(VerbsFault.class)
        .hasMessageContaining("version 2");
    MemorySegment mtu = HELLO.encode();
    mtu.set(Frame.INT, 64, 6);
    assertThatThrownBy(() -> Greeting.decode(mtu))
        .isInstanceOf(VerbsFault.class)
        .hasMessageContaining("MTU code 6");
  }

  @Test
  void randomBytesAreAGreetingOrAFault() {
    long seed = Long.getLong("weft.test.seed", 39);
    Random random = new Random(seed);
    for (int i = 0; i < 20_000; i++) {
      byte[] bytes = HELLO.encode().toArray(ValueLayout.JAVA_BYTE);
      for (int flips = random.nextInt(4); flips >= 0; flips--) {
        bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
      }
      MemorySegment message =
          MemorySegment.ofArray(bytes).asSlice(0, random.nextInt(bytes.length + 1));
      try {
        assertThat(Greeting.decode(message)).isNotNull();
      } catch (VerbsFault e) {
        assertThat(e).as("seed %d, message %d", seed, i).hasMessageContaining("greeting");
      }
    }
  }
}
