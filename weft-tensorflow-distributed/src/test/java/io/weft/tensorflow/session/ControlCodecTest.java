// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.tensorflow.partition.GraphCall;
import io.weft.tensorflow.session.StepException.Reason;
import io.weft.tensorflow.transfer.ReceiveBatch;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ControlCodecTest {

  static List<ControlMessage> messages() {
    return List.of(
        new ControlMessage.Host(1L << 41, 3, new byte[] {1, 2, 3}),
        new ControlMessage.Prepare(
            3,
            4,
            new GraphCall(List.of("x", "ü:1"), List.of(), List.of("train", "")),
            List.of(new ReceiveBatch(1, List.of("1:a", "2:b")), new ReceiveBatch(0, List.of()))),
        new ControlMessage.Run(Long.MAX_VALUE, 3, 4, 1_000_000),
        new ControlMessage.Abort(7, "ein Grund, größer"),
        new ControlMessage.End(8),
        new ControlMessage.Drop(9),
        new ControlMessage.Done(10),
        new ControlMessage.Failed(11, new Failure(Reason.TASK_LOST, 5, true, "why")));
  }

  @ParameterizedTest
  @MethodSource("messages")
  void decodedMessagesEqualTheEncodedOnes(ControlMessage message) {
    ControlMessage back = ControlCodec.decode(ControlCodec.encode(message));
    assertThat(back).usingRecursiveComparison().isEqualTo(message);
  }

  @ParameterizedTest
  @MethodSource("messages")
  void truncatedOrTooLongMessageIsRefused(ControlMessage message) {
    byte[] bytes = ControlCodec.encode(message);
    for (int length = 0; length < bytes.length; length++) {
      byte[] cut = Arrays.copyOf(bytes, length);
      assertThatThrownBy(() -> ControlCodec.decode(cut))
          .isInstanceOf(IllegalArgumentException.class);
    }
    assertThatThrownBy(() -> ControlCodec.decode(Arrays.copyOf(bytes, bytes.length + 1)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void corruptedBytesAreDecodedOrRefused() {
    Random random = new Random(7);
    int refused = 0;
    for (int i = 0; i < 20_000; i++) {
      byte[] bytes = ControlCodec.encode(messages().get(i % messages().size()));
      bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
      try {
        assertThat(ControlCodec.decode(bytes)).isNotNull();
      } catch (IllegalArgumentException e) {
        refused++;
      }
    }
    assertThat(refused).isBetween(1000, 19_000);
  }

  @Test
  void longReasonIsTruncated() {
    var message = new ControlMessage.Abort(1, "x".repeat(1 << 20));
    assertThat(ControlCodec.encode(message)).hasSizeLessThan(5000);
  }
}
