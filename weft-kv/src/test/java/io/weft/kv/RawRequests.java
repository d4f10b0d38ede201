// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.cluster.channel.Request;
import io.weft.cluster.channel.RequestOutcome;
import io.weft.comm.CommException;
import io.weft.kv.frame.KvHead;
import io.weft.kv.frame.KvReply;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/// Requests of rank 1 to rank 0 as bytes, including requests that no worker sends.
final class RawRequests {

  private RawRequests() {}

  static KvReply ask(KvJob job, KvHead head, byte[] payload) throws Exception {
    try (Arena arena = Arena.ofShared()) {
      MemorySegment words = arena.allocate(KvHead.BYTES);
      head.write(words);
      MemorySegment sent = arena.allocate(Math.max(1, payload.length)).asSlice(0, payload.length);
      sent.copyFrom(MemorySegment.ofArray(payload));
      var reply = new CompletableFuture<KvReply>();
      boolean asked =
          job.job()
              .ranks()
              .get(1)
              .channel()
              .tryRequest(
                  0,
                  Request.of(16, words, sent, Duration.ofSeconds(20)),
                  outcome -> {
                    switch (outcome) {
                      case RequestOutcome.Replied(MemorySegment body, long written) ->
                          reply.complete(KvReply.read(body));
                      case RequestOutcome.Failed(CommException cause) ->
                          reply.completeExceptionally(cause);
                    }
                  });
      assertThat(asked).isTrue();
      return reply.get(30, TimeUnit.SECONDS);
    }
  }
}
