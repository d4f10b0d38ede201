// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReceiveRefillTest {

  private static final int CAPACITY = 100;
  private static final int BATCH = 8;

  private final List<Integer> posts = new ArrayList<>();
  private int room = CAPACITY;
  private final ReceiveRefill refill = new ReceiveRefill(CAPACITY, BATCH, this::post);

  /// Accepts receives as a device does, until the queue is full.
  private int post(int wanted) {
    int accepted = Math.min(wanted, room);
    room -= accepted;
    posts.add(wanted);
    return accepted;
  }

  /// Consumes receives as completions do.
  private void complete(int receives) {
    room += receives;
    refill.consumed(receives);
  }

  @Test
  void fillPostsTheWholeQueueInBatches() {
    assertThat(refill.fill()).isEqualTo(CAPACITY);
    assertThat(room).isZero();
    assertThat(posts).hasSize(13).startsWith(BATCH).endsWith(4);
    assertThat(refill.fill()).isZero();
  }

  @Test
  void fillPostsNoMoreThanTheCapacityEvenIfTheDeviceHasRoom() {
    room = 1000;
    assertThat(refill.fill()).isEqualTo(CAPACITY);
  }

  @Test
  void consumedReceivesArePostedOnlyInWholeBatches() {
    int unused = refill.fill();
    posts.clear();
    complete(BATCH - 1);
    assertThat(posts).isEmpty();
    complete(1);
    assertThat(posts).containsExactly(BATCH);
    assertThat(room).isZero();
    complete(3 * BATCH + 2);
    assertThat(posts).containsExactly(BATCH, BATCH, BATCH, BATCH);
    assertThat(room).isEqualTo(2);
  }

  /// The device drops the completions of a queue pair that ends, so that they are not counted.
  @Test
  void fillPostsReceivesWhoseCompletionsWereLost() {
    int unused = refill.fill();
    room += 30;
    assertThat(refill.fill()).isEqualTo(30);
    assertThat(room).isZero();
  }

  @Test
  void receivesThatFillHasPostedBeforeTheirCompletionsAreNotPostedAgain() {
    int unused = refill.fill();
    room += 20; // taken by frames of which the completions are not polled yet
    assertThat(refill.fill()).isEqualTo(20);
    refill.consumed(20);
    assertThat(room).isZero();
    posts.clear();
    complete(BATCH);
    assertThat(room).isZero();
    assertThat(posts).containsExactly(BATCH);
  }
}
