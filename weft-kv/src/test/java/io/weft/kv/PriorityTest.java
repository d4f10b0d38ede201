// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.cluster.channel.IncomingRequest;
import io.weft.comm.Handle;
import io.weft.kv.frame.KvHead;
import io.weft.kv.frame.KvReply;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.TableSpec;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Checks that requests that wait for credits are sent by priority.
@Timeout(120)
class PriorityTest {

  private static final TableSpec LONG =
      TableSpec.tensor("long", 16 * 1024).with(Consistency.asynchronous());
  private static final TableSpec URGENT =
      TableSpec.tensor("urgent", 100).with(Consistency.asynchronous());

  @Test
  void theRestOfALongTensorDoesNotDelayAShortUrgentOne() throws Exception {
    try (KvJob job =
            new KvJob(
                "tcp",
                2,
                KvOptions.servers(1),
                it -> it.set(KvConfig.PARTITION, "4K").set(KvConfig.IN_FLIGHT, "8K"));
        Arena arena = Arena.ofShared()) {
      KvWorker worker = job.member(1).worker();
      KvTensor slow = worker.registerTensor(LONG);
      KvTensor urgent = worker.registerTensor(URGENT);
      List<Long> tables = new CopyOnWriteArrayList<>();
      List<IncomingRequest> held = new ArrayList<>();
      job.job()
          .ranks()
          .get(0)
          .channel()
          .serve(
              16,
              request -> {
                tables.add(KvHead.read(request.head()).table());
                if (held.size() < 2) {
                  held.add(request);
                } else {
                  request.reply(KvReply.done(0).encode());
                }
              });
      Handle<Void> background = slow.push(arena.allocate(4 * LONG.width()), 0);
      Handle<Void> first = urgent.push(arena.allocate(4 * URGENT.width()), 5);
      // Two parts of the long tensor are sent and not answered. The test answers them now.
      while (tables.size() < 2) {
        Thread.onSpinWait();
      }
      assertThat(tables).containsOnly(LONG.id());
      List<IncomingRequest> two = List.copyOf(held);
      two.forEach(it -> it.reply(KvReply.done(0).encode()));
      first.await();
      background.await();
      assertThat(tables).hasSize(17);
      assertThat(tables.indexOf(URGENT.id())).isEqualTo(2);
    }
  }
}
