// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.cluster.channel.IncomingRequest;
import io.weft.comm.Handle;
import io.weft.kv.frame.KvHead;
import io.weft.kv.frame.KvOp;
import io.weft.kv.frame.KvReply;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.TableSpec;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Checks that a clock follows the pushes before it, including pushes that are sent again.
@Timeout(60)
class ClockOrderTest {

  private static final TableSpec SPEC = TableSpec.rows("t", 1).with(Consistency.bounded(1));

  @Test
  void aClockDoesNotOvertakeAPushWhoseKeysAreSentAgain() throws Exception {
    try (KvJob job = new KvJob("inproc", 2, KvOptions.servers(1))) {
      KvTable table = job.member(1).worker().register(SPEC);
      long[] keys = LongStream.range(0, 100).toArray();
      table.push(keys, new float[100]).await(); // the server knows the list from now on
      List<KvHead> seen = new CopyOnWriteArrayList<>();
      List<IncomingRequest> held = new CopyOnWriteArrayList<>();
      job.job()
          .ranks()
          .get(0)
          .channel()
          .serve(
              16,
              request -> {
                seen.add(KvHead.read(request.head()));
                if (held.isEmpty()) {
                  held.add(request);
                } else {
                  request.reply(KvReply.done(0).encode());
                }
              });
      Handle<Void> push = table.push(keys, new float[100]);
      Handle<Void> clock = table.clock();
      while (held.isEmpty()) {
        Thread.onSpinWait();
      }
      held.getFirst().reply(KvReply.unknownList().encode());
      push.await();
      clock.await();
      assertThat(seen.stream().map(KvHead::op)).containsExactly(KvOp.PUSH, KvOp.PUSH, KvOp.CLOCK);
      assertThat(seen.stream().map(KvHead::keys))
          .containsExactly(KvHead.Keys.NAMED, KvHead.Keys.KEPT, KvHead.Keys.NONE);
      assertThat(seen.get(1).number()).isEqualTo(seen.get(0).number());
    }
  }
}
