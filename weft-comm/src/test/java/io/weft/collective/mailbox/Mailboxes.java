// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.mailbox;

import io.weft.transport.PeerMemory;
import io.weft.transport.region.RegionTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;

/// The mailboxes of all members of a communicator, in this process.
final class Mailboxes {

  private Mailboxes() {}

  /// Returns one mailbox per member, each connected to all others.
  static List<SharedMailbox> of(int members) {
    RegionTable table = new RegionTable("mailboxes");
    List<PeerMemory> memories = new ArrayList<>();
    List<SharedMailbox> mailboxes = new ArrayList<>();
    for (int m = 0; m < members; m++) {
      var region = table.allocate(SharedMailbox.BYTES);
      memories.add(Objects.requireNonNull(table.find(region.export().key())));
      mailboxes.add(new SharedMailbox(region.segment(), 7, m, members));
    }
    for (int m = 0; m < members; m++) {
      int self = m;
      IntStream.range(0, members)
          .filter(other -> other != self)
          .forEach(other -> mailboxes.get(self).put(other, memories.get(other)));
    }
    return mailboxes;
  }
}
