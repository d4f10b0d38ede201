// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import io.weft.cluster.channel.IncomingRequest;
import io.weft.cluster.channel.RequestHandler;
import io.weft.kv.frame.KvHead;
import io.weft.kv.frame.KvOp;
import io.weft.kv.frame.KvReply;
import io.weft.kv.server.ReplicasNotice;
import io.weft.kv.worker.WorkerLinks;

/// A worker's handler of unsolicited announcements of a shard's replica set.
record ReplicasHandler(Layout layout, int rank, WorkerLinks links) implements RequestHandler {

  @Override
  public void onRequest(IncomingRequest request) {
    KvReply reply = KvReply.done(0);
    try {
      KvHead head = KvHead.read(request.head());
      if (head.op() != KvOp.RING || layout.workers().contains(request.fromRank())) {
        throw new IllegalArgumentException(
            "rank %d is a worker; all ranks need the same servers and workers".formatted(rank));
      }
      links.ring(head.shard(), ReplicasNotice.text(request.payload()));
    } catch (IllegalArgumentException wrong) {
      reply = KvReply.refused(String.valueOf(wrong.getMessage()));
    }
    request.reply(reply.encode());
  }
}
