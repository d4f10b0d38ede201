// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.mailbox;

import io.weft.cluster.Mesh;
import io.weft.collective.exchange.CollectiveContext;
import io.weft.collective.frame.CollectiveFrame;
import io.weft.collective.group.Group;
import io.weft.transport.MemoryRegion;
import io.weft.transport.RemoteRegion;
import io.weft.transport.TransportException;
import io.weft.transport.table.LongMap;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The mailboxes of this rank's communicators. A mailbox is created when its communicator has its
/// first operation by mailbox or on mapped memory, or when a member announces its mailbox, and is
/// announced to all members (MAILBOX). The mailbox of a closed communicator serves another one when
/// no member reads it any more. Confined to the progress thread.
public final class SharedMailboxes {

  private static final Logger LOG = LoggerFactory.getLogger(SharedMailboxes.class);
  private static final long MESSAGE_BYTES = CollectiveFrame.HEADER_BYTES + RemoteRegion.WIRE_BYTES;

  private final Mesh mesh;
  private final CollectiveContext context;
  private final LongMap<MailboxSlots> byGroup = new LongMap<>();
  private final List<MemoryRegion> regions = new ArrayList<>();
  private final List<MailboxSlots> retired = new ArrayList<>();
  private final List<MailboxSlots> skipping = new ArrayList<>();

  public SharedMailboxes(Mesh mesh, CollectiveContext context) {
    this.mesh = mesh;
    this.context = context;
  }

  /// Returns a communicator's slots; null if it has none yet.
  public @Nullable MailboxSlots find(Group group) {
    return byGroup.get(group.key());
  }

  /// Returns a communicator's slots. Creates and announces them if there are none yet.
  MailboxSlots of(Group group) {
    MailboxSlots slots = find(group);
    if (slots == null) {
      slots = new MailboxSlots(group, mesh, context, region(), skipping::add);
      byGroup.put(group.key(), slots);
      tell(group, slots);
    }
    return slots;
  }

  /// Runs a duty cycle: publishes skipped numbers that have room.
  ///
  /// Hot path.
  public void work() {
    if (!skipping.isEmpty()) {
      skipping.removeIf(MailboxSlots::publishSkipped);
    }
  }

  private @Nullable MemoryRegion region() {
    for (int i = 0; i < retired.size(); i++) {
      if (retired.get(i).isUnused()) {
        return retired.remove(i).region();
      }
    }
    try {
      MemoryRegion region = mesh.transport().allocate(SharedMailbox.BYTES);
      regions.add(region);
      return region;
    } catch (TransportException.Registration full) {
      LOG.debug("no mailbox: operations use messages: {}", full.getMessage());
      return null;
    }
  }

  private void tell(Group group, MailboxSlots slots) {
    boolean usable = !slots.isUnusable();
    for (int m = 0; m < group.size(); m++) {
      if (m != group.rank()) {
        MemorySegment frame = context.scratch();
        CollectiveFrame.header(
            frame, CollectiveFrame.Type.MAILBOX, group.key(), 0, 0, 0, 0, usable ? 1 : 0);
        if (usable) {
          MemoryRegion own = Objects.requireNonNull(slots.region());
          CollectiveFrame.region(frame, CollectiveFrame.HEADER_BYTES, own.export());
        }
        context.send(group.world(m), usable ? MESSAGE_BYTES : CollectiveFrame.HEADER_BYTES);
      }
    }
  }

  /// Handles a rank's announcement of its mailbox, for a communicator that is open here.
  public void onMailbox(Group group, int fromRank, MemorySegment frame) {
    int member = group.member(fromRank);
    boolean reachable = CollectiveFrame.aux(frame) != 0;
    if (member < 0 || (reachable && frame.byteSize() < MESSAGE_BYTES)) {
      mesh.drop(fromRank, "it sent an invalid mailbox");
      return;
    }
    MailboxSlots slots = of(group);
    if (slots.mailbox().knows(member) && reachable) {
      mesh.drop(fromRank, "it sent a second mailbox for one communicator");
    } else if (!reachable) {
      slots.becomeUnusable();
    } else if (slots.isUnusable()) {
      LOG.debug("the mailbox of {} is not usable", group.describe(member));
    } else if (!slots.put(member, CollectiveFrame.region(frame, CollectiveFrame.HEADER_BYTES))) {
      slots.becomeUnusable();
      tell(group, slots);
    }
  }

  /// Retires the mailbox of a closed communicator.
  public void close(Group group) {
    MailboxSlots slots = byGroup.remove(group.key());
    if (slots != null) {
      slots.end();
      skipping.removeIf(each -> each == slots);
      if (slots.region() != null) {
        retired.add(slots);
      }
    }
  }

  /// Closes all mailboxes, because the progress thread ends. Communicators may be closed later.
  public void end() {
    byGroup.clear();
    regions.forEach(MemoryRegion::close);
    regions.clear();
    retired.clear();
    skipping.clear();
  }
}
