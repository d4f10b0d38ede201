// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class WordsTest {

  private static Gid gid(int index, String hex, int type) {
    return Gid.of(index, java.util.HexFormat.of().parseHex(hex), type);
  }

  @Test
  void workStatusesHaveTheLibrarysNumbers() {
    assertThat(WorkStatus.of(0)).isEqualTo(WorkStatus.SUCCESS);
    assertThat(WorkStatus.of(5)).isEqualTo(WorkStatus.FLUSHED);
    assertThat(WorkStatus.of(10)).isEqualTo(WorkStatus.REMOTE_ACCESS);
    assertThat(WorkStatus.of(12)).isEqualTo(WorkStatus.RETRIES_EXHAUSTED);
    assertThat(WorkStatus.of(13)).isEqualTo(WorkStatus.RECEIVER_NOT_READY);
    assertThat(WorkStatus.of(21)).isEqualTo(WorkStatus.GENERAL);
    assertThat(WorkStatus.of(-1)).isEqualTo(WorkStatus.UNKNOWN);
    assertThat(WorkStatus.of(99).words(99, 0x88)).contains("status 99", "vendor 0x88");
    assertThat(WorkStatus.REMOTE_ACCESS.words(10, 0)).contains("remote access", "closed");
  }

  @Test
  void eventsAreDescribedInWords() {
    assertThat(AsyncEvent.of(1, 4711).kind())
        .isEqualTo(AsyncEvent.DeviceEventKind.QUEUE_PAIR_FAILED);
    assertThat(AsyncEvent.of(3, 4711).words()).contains("QP_ACCESS_ERR");
    assertThat(AsyncEvent.of(10, 0x7F00_0000_0001L).words()).isEqualTo("port 1 is down (PORT_ERR)");
    assertThat(AsyncEvent.of(8, 0).kind()).isEqualTo(AsyncEvent.DeviceEventKind.DEVICE_FAILED);
    assertThat(AsyncEvent.of(4, 0).kind()).isEqualTo(AsyncEvent.DeviceEventKind.NOTICE);
  }

  @Test
  void aRoutedAddressMappedFromIpv4IsPreferred() {
    Gid local = gid(0, "fe80000000000000001122fffe334455", 2);
    Gid mapped = gid(3, "00000000000000000000ffff0a4d0001", 2);
    Gid old = gid(2, "00000000000000000000ffff0a4d0001", 1);
    Gid routed = gid(1, "20010db8000000000000000000000001", 2);
    assertThat(Gid.preferred(List.of(local, routed, old, mapped))).contains(mapped);
    assertThat(Gid.preferred(List.of(local, old, routed))).contains(routed);
    assertThat(Gid.preferred(List.of(old, local))).contains(local);
    assertThat(Gid.preferred(List.of())).isEmpty();
    assertThat(mapped.toString()).isEqualTo("::ffff:10.77.0.1");
    assertThat(local.toString()).isEqualTo("fe80:0:0:0:11:22ff:fe33:4455");
    assertThat(Gid.of(3, mapped.bytes(), 2)).isEqualTo(mapped);
  }

  @Test
  void settingsOutsideTheirRangeAreRefused() {
    assertThatThrownBy(() -> new QueuePairSettings(16, 0, 14, 8, 7, 12))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("retries is 8, must be 0 to 7");
  }

  @Test
  void adviceOnLockedMemoryNamesTheNumberNeeded() {
    assertThat(MemoryLock.advice(123_456)).contains("123456", "ulimit -l", "may lock", "pinned");
  }
}
