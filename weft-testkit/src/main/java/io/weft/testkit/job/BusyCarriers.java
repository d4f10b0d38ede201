// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.job;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// Every thread that carries virtual ones is kept, as by programs that block in native calls: until
/// this is closed no other virtual thread of this process runs. What must work then, works without
/// them.
public final class BusyCarriers implements AutoCloseable {

  private final int count =
      Integer.getInteger(
          "jdk.virtualThreadScheduler.parallelism", Runtime.getRuntime().availableProcessors());
  private final CountDownLatch kept = new CountDownLatch(count);
  private volatile boolean over;

  /// Returns when all are kept. Throws `IllegalStateException` where that takes longer than 20 s.
  public BusyCarriers() throws InterruptedException {
    for (int i = 0; i < count; i++) {
      var unused = Thread.ofVirtual().name("busy-", i).start(this::keep);
    }
    if (!kept.await(20, TimeUnit.SECONDS)) {
      over = true;
      throw new IllegalStateException("other virtual threads keep their carriers for ever");
    }
  }

  /// How many there are.
  public int count() {
    return count;
  }

  private void keep() {
    kept.countDown();
    while (!over) {
      Thread.onSpinWait();
    }
  }

  @Override
  public void close() {
    over = true;
  }
}
