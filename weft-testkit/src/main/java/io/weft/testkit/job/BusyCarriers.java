// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.job;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// Virtual threads that occupy all carrier threads, like programs that block in native calls. Until
/// this is closed, no other virtual thread of this process runs. A test with it shows that code
/// does not depend on virtual threads.
public final class BusyCarriers implements AutoCloseable {

  private final int count =
      Integer.getInteger(
          "jdk.virtualThreadScheduler.parallelism", Runtime.getRuntime().availableProcessors());
  private final CountDownLatch kept = new CountDownLatch(count);
  private volatile boolean ended;

  /// Occupies all carriers. Throws `IllegalStateException` if that takes over 20 s.
  public BusyCarriers() throws InterruptedException {
    for (int i = 0; i < count; i++) {
      var unused = Thread.ofVirtual().name("busy-", i).start(this::keep);
    }
    if (!kept.await(20, TimeUnit.SECONDS)) {
      ended = true;
      throw new IllegalStateException("other virtual threads occupy their carriers");
    }
  }

  /// Returns the number of carriers.
  public int count() {
    return count;
  }

  private void keep() {
    kept.countDown();
    while (!ended) {
      Thread.onSpinWait();
    }
  }

  @Override
  public void close() {
    ended = true;
  }
}
