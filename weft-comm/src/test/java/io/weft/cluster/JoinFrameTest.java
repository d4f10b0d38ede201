// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.transport.Address;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class JoinFrameTest {

  private static final int JOIN_HEADER_BYTES = 16;

  private static Member member(int rank, String host) {
    return new Member(
        rank,
        1,
        0,
        host,
        "12@3@pid:[4]",
        new Processors("0-3,8"),
        List.of(new Address("tcp", "127.0.0.1:4000"), new Address("tcp", "[::1]:4001")));
  }

  private static MemorySegment join() {
    return new MeshFrame.Join(member(4, "node7")).encode();
  }

  /// Returns a join frame with another number at this offset.
  private static MemorySegment with(int offset, int value) {
    MemorySegment frame = join();
    frame.set(JAVA_INT_UNALIGNED, offset, value);
    return frame;
  }

  @Test
  void aDecodedFrameEqualsTheEncodedOne() {
    var join = new MeshFrame.Join(member(4, "node7"));
    assertThat(MeshFrame.read(join.encode())).isEqualTo(join);
    for (long[] words : new long[][] {{}, {1}, {0, 0, 1L << 63}, new long[256]}) {
      if (words.length == 256) {
        words[255] = -1;
      }
      var welcome = new MeshFrame.Welcome(BitSet.valueOf(words));
      assertThat(MeshFrame.read(welcome.encode())).isEqualTo(welcome);
    }
  }

  @Test
  void aTruncatedJoinWithoutACompleteSchemeIsRefused() {
    MemorySegment whole = join();
    String text = "node7\n12@3@pid:[4]\n0-3,8\n";
    long least = JOIN_HEADER_BYTES + text.length() + "tcp:".length();
    for (long bytes = 0; bytes < whole.byteSize(); bytes++) {
      MeshFrame read = MeshFrame.read(whole.asSlice(0, bytes));
      assertThat(read != null).as("of %s bytes", bytes).isEqualTo(complete(bytes, least));
    }
  }

  /// Returns whether a join cut to `bytes` bytes is valid: the transports check addresses, so a
  /// scheme and its colon suffice.
  private static boolean complete(long bytes, long least) {
    String second = "127.0.0.1:4000\n";
    boolean withinSecond =
        bytes >= least + second.length() && bytes < least + second.length() + "tcp:".length();
    return bytes >= least && !withinSecond;
  }

  @Test
  void invalidNumbersAreRefused() {
    assertThat(MeshFrame.read(with(4, 4))).isNotNull();
    for (int rank : new int[] {0, -1, JoinFrame.MOST_RANKS, Integer.MAX_VALUE}) {
      assertThat(MeshFrame.read(with(4, rank))).as("rank %s", rank).isNull();
    }
    for (int place : new int[] {8, 12}) {
      assertThat(MeshFrame.read(with(place, 5))).isNull();
      assertThat(MeshFrame.read(with(place, -1))).isNull();
    }
  }

  @Test
  void framesBeyondTheirLimitsAreRefused() {
    assertThat(JoinFrame.fits(member(1, "h".repeat(255)))).isTrue();
    assertThat(JoinFrame.fits(member(1, "h".repeat(256)))).isFalse();
    assertThat(MeshFrame.read(new MeshFrame.Join(member(1, "h".repeat(256))).encode())).isNull();
    assertThat(MeshFrame.read(new MeshFrame.Join(member(1, "h".repeat(5_000))).encode())).isNull();
    MemorySegment welcome = new MeshFrame.Welcome(BitSet.valueOf(new long[] {1, 1})).encode();
    for (int words : new int[] {-1, 0, 1, 3, 257, Integer.MAX_VALUE}) {
      welcome.set(JAVA_INT_UNALIGNED, 4, words);
      assertThat(MeshFrame.read(welcome)).as("%s words", words).isNull();
    }
    MemorySegment tooMany = MemorySegment.ofArray(new byte[8 + 8 * 257]);
    MemorySegment.copy(welcome, 0, tooMany, 0, 4);
    tooMany.set(JAVA_INT_UNALIGNED, 4, 257);
    assertThat(MeshFrame.read(tooMany)).isNull();
  }

  @Test
  void mutatedFramesAreDecodedOrNull() {
    long seed = Long.getLong("weft.test.seed", System.nanoTime());
    Random random = new Random(seed);
    for (int i = 0; i < 20_000; i++) {
      byte[] bytes = join().toArray(JAVA_BYTE);
      for (int changes = 1 + random.nextInt(4); changes > 0; changes--) {
        bytes[2 + random.nextInt(bytes.length - 2)] = (byte) random.nextInt();
      }
      MeshFrame read = MeshFrame.read(MemorySegment.ofArray(bytes));
      if (read instanceof MeshFrame.Join join) {
        assertThat(MeshFrame.read(join.encode())).as("seed %s", seed).isEqualTo(join);
      }
    }
  }
}
