// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import io.weft.Weft;
import io.weft.cluster.Store;
import io.weft.comm.CommException;
import io.weft.kv.worker.ReturnRequests;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/// The place of a lost server that a process takes after it has joined the job. The job's store
/// records the rank in each place.
///
/// @param number of the place in the replica set
/// @param ranks the servers by place, including this one and the lost ones
/// @param lost the servers that are lost
record ServerPlace(int number, List<Integer> ranks, Set<Integer> lost) {

  private static final int ATTEMPTS = 100;

  /// Takes a place. Throws `CommException.Setup` if no server is lost.
  static ServerPlace take(Weft weft, Layout layout, int application, Duration limit)
      throws InterruptedException {
    var asks = new ReturnRequests(weft.channel(), layout.kind(), weft.rank(), limit);
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      List<Integer> now = servers(weft.store(), layout, application);
      Set<Integer> lost = asks.lost(now);
      for (int number = 0; number < now.size(); number++) {
        if (lost.contains(now.get(number))
            && write(weft, key(application, number), now.get(number))) {
          // Read again, because another process may have taken a place in the meantime.
          return new ServerPlace(number, servers(weft.store(), layout, application), lost);
        }
      }
      if (lost.isEmpty()) {
        throw new CommException.Setup(
            "rank %d has joined the job, but none of its %d servers, ranks %s, is lost: there is no place for another one"
                .formatted(weft.rank(), now.size(), now),
            List.of(weft.rank()),
            null);
      }
    }
    throw new CommException.Setup(
        "rank %d lost the race for the place of a server %d times; start it again"
            .formatted(weft.rank(), ATTEMPTS),
        List.of(weft.rank()),
        null);
  }

  /// Announces this process to the other servers.
  void tell(Weft weft, Layout layout, Duration limit) throws InterruptedException {
    List<Integer> left =
        ranks.stream().filter(it -> it != weft.rank() && !lost.contains(it)).toList();
    new ReturnRequests(weft.channel(), layout.kind(), weft.rank(), limit).tell(left, number);
  }

  private static String key(int application, int number) {
    return "kv/" + application + "/server/" + number;
  }

  private static List<Integer> servers(Store store, Layout layout, int application) {
    List<Integer> servers = new ArrayList<>(layout.servers());
    for (int number = 0; number < servers.size(); number++) {
      Optional<byte[]> written = store.find(key(application, number));
      if (written.isPresent()) {
        servers.set(number, Integer.valueOf(new String(written.get(), StandardCharsets.UTF_8)));
      }
    }
    return servers;
  }

  private static boolean write(Weft weft, String key, int before) {
    byte[] mine = text(weft.rank());
    return weft.store().find(key).isPresent()
        ? weft.store().compareAndSet(key, text(before), mine)
        : weft.store().putIfAbsent(key, mine);
  }

  private static byte[] text(int rank) {
    return String.valueOf(rank).getBytes(StandardCharsets.UTF_8);
  }
}
