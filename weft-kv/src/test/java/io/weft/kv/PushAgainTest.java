// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.Weft;
import io.weft.comm.CommException;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.TableSpec;
import io.weft.testkit.job.LocalJob;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Checks a callback that pushes again after every completion of its last push.
@Timeout(60)
class PushAgainTest {

  private final AtomicInteger told = new AtomicInteger();
  private final AtomicReference<RuntimeException> refused = new AtomicReference<>();

  private void push(KvTable table) {
    try {
      table
          .push(new long[] {1}, new float[4])
          .whenDone(
              (done, failure) -> {
                told.incrementAndGet();
                push(table);
              });
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException thrown) {
      refused.set(thrown);
    }
  }

  @Test
  void leavingTheJobEndsARepeatedPush() throws Exception {
    try (LocalJob job = LocalJob.over("inproc", 2)) {
      Weft server = job.ranks().get(0);
      Weft worker = job.ranks().get(1);
      CompletableFuture<KvNode> serves =
          CompletableFuture.supplyAsync(() -> KvNode.open(server, KvOptions.servers(1)));
      KvNode kv = KvNode.open(worker, KvOptions.servers(1));
      serves.get(30, TimeUnit.SECONDS);
      KvTable table =
          kv.worker()
              .register(TableSpec.rows("t", 4).with(Consistency.asynchronous()).withRule("assign"));
      push(table);
      while (told.get() < 3) {
        Thread.onSpinWait();
      }
      CompletableFuture.runAsync(worker::close).get(30, TimeUnit.SECONDS);
      assertThat(refused.get())
          .isInstanceOf(CommException.Aborted.class)
          .hasMessageContaining("has left the job");
      int before = told.get();
      push(table); // a push after the worker has left
      assertThat(told.get()).isBetween(before, before + 2);
      serves.get(30, TimeUnit.SECONDS).close();
    }
  }
}
