// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.cluster.channel.ChannelEvents;
import io.weft.cluster.channel.IncomingRequest;
import io.weft.kv.event.OperationNames;
import io.weft.kv.event.TableOperation;
import io.weft.kv.frame.KvHead;
import io.weft.kv.spec.TableSpec;
import io.weft.observer.ObservedOperation.Service;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/// The operations of a server for the observers of its rank: the requests of workers, and the
/// changes of its shards. Any thread.
public final class ServerEvents {

  /// A table and the names of its operations.
  private record Named(long table, OperationNames names) {}

  private final ChannelEvents events;

  /// The known tables by id, replaced as a whole.
  private volatile Named[] known = {};

  /// @param events the events of the channel that carries the requests
  public ServerEvents(ChannelEvents events) {
    this.events = events;
  }

  /// Adds the names of a table that was registered on a shard.
  synchronized void add(TableSpec spec) {
    if (names(spec.id()) == OperationNames.NO_TABLE) {
      List<Named> more = new ArrayList<>(List.of(known));
      more.add(new Named(spec.id(), new OperationNames(spec.name())));
      more.sort(Comparator.comparingLong(Named::table));
      known = more.toArray(Named[]::new);
    }
  }

  private OperationNames names(long table) {
    Named[] all = known;
    int low = 0;
    int high = all.length;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (all[middle].table() < table) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low < all.length && all[low].table() == table
        ? all[low].names()
        : OperationNames.NO_TABLE;
  }

  /// Submits the operation of a worker's request.
  ///
  /// Hot path.
  TableOperation of(IncomingRequest request, KvHead head) {
    OperationNames names = names(head.table());
    var subject =
        new TableOperation.Subject(
            Service.KV_SERVER,
            names.of(head.op()),
            names.table(),
            head.count(),
            request.payload().byteSize());
    return new TableOperation(events, subject, request.fromRank());
  }

  /// Begins a change of a shard, such as "takeover".
  ///
  /// @param peer the server that is replaced, or to which the shard is copied
  TableOperation begin(String change, int shard, int peer) {
    String name = change + " of shard " + shard;
    var subject = new TableOperation.Subject(Service.KV_SERVER, name, "", 0, 0);
    var operation = new TableOperation(events, subject, peer);
    operation.begun();
    return operation;
  }
}
