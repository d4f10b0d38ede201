// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.mailbox;

import io.weft.cluster.Mesh;
import io.weft.collective.exchange.CollectiveContext;
import io.weft.collective.frame.CollectiveFrame;
import io.weft.collective.frame.Hash;
import io.weft.collective.group.Group;
import io.weft.collective.group.NameUse;
import io.weft.collective.group.OperationSignature;
import io.weft.transport.MemoryRegion;
import io.weft.transport.PeerMemory;
import io.weft.transport.RemoteRegion;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The slots of one communicator on this rank: its mailbox, and the other members' mailboxes once
/// they have sent their locations. The slots are unusable if one rank cannot reach another's
/// mailbox. All members then learn this, and all operations use messages. Confined to the progress
/// thread.
public final class MailboxSlots {

  private final Group group;
  private final Mesh mesh;
  private final CollectiveContext context;
  private final @Nullable MemoryRegion region;
  private final SharedMailbox mailbox;
  private final TreeSum sum;
  private final Consumer<MailboxSlots> skipping;
  private boolean unusable;

  /// `region` is null without memory for a mailbox. `skipping` is called when `publishSkipped` has
  /// a slot to publish.
  MailboxSlots(
      Group group,
      Mesh mesh,
      CollectiveContext context,
      @Nullable MemoryRegion region,
      Consumer<MailboxSlots> skipping) {
    this.group = group;
    this.mesh = mesh;
    this.context = context;
    this.region = region;
    this.skipping = skipping;
    this.unusable = region == null;
    MemorySegment memory =
        region == null
            ? MemorySegment.ofArray(new long[SharedMailbox.BYTES / Long.BYTES])
            : region.segment().asSlice(0, SharedMailbox.BYTES);
    this.mailbox = new SharedMailbox(memory, group.key(), group.rank(), group.size());
    this.sum = new TreeSum(mailbox);
  }

  /// Returns the identity of an operation that is stored in a slot: a hash of name, use and
  /// signature.
  public static long subject(long key, int sequence, OperationSignature signature) {
    long hash = Hash.mix(NameUse.id(key, sequence) ^ (long) signature.hash() << 32);
    return hash == SharedMailbox.NOTHING ? 1 : hash;
  }

  @Nullable MemoryRegion region() {
    return region;
  }

  TreeSum sum() {
    return sum;
  }

  boolean isUnusable() {
    return unusable;
  }

  void becomeUnusable() {
    unusable = true;
  }

  /// Returns whether this rank may publish.
  public boolean isReady() {
    return mailbox.isReady() && !unusable;
  }

  /// Adds a member's mailbox, which must not be known yet. Returns false if this rank cannot reach
  /// it.
  boolean put(int member, RemoteRegion remote) {
    int world = group.world(member);
    PeerMemory memory = mesh.isGone(world) ? null : mesh.endpoint(world).map(remote);
    if (memory == null || memory.segment().byteSize() < SharedMailbox.BYTES) {
      return false;
    }
    mailbox.put(member, memory);
    return true;
  }

  /// Returns this rank's mailbox, which refers to the known mailboxes of the other members.
  SharedMailbox mailbox() {
    return mailbox;
  }

  /// Publishes this rank's contribution and wakes the members that wait for it. Returns false if
  /// there is no room yet. Inside `SharedMailbox.enter`.
  ///
  /// Hot path.
  public boolean publish(long number, long subject, MemorySegment from) {
    if (!mailbox.tryWrite(number, subject, from)) {
      return false;
    }
    wakeWhoWaits();
    return true;
  }

  /// Stores a word of this rank's published contribution, and wakes the members that wait for it.
  /// Inside `SharedMailbox.enter`.
  ///
  /// Hot path.
  public void tell(long number, long at, long word) {
    mailbox.tell(number, at, word);
    wakeWhoWaits();
  }

  /// Returns a word by `SharedMailbox.told`.
  public long told(int member, long number, long at) {
    return mailbox.told(member, number, at);
  }

  /// Returns the same word outside `SharedMailbox.enter`; 0 if the member's mailbox is closed.
  public long peek(int member, long number, long at) {
    return mailbox.publishes(member, number) ? mailbox.peekWord(member, number, at) : 0;
  }

  /// Returns a member's contribution. It may be read after `SharedMailbox.look` has returned SAME
  /// and before `acknowledge`.
  public MemorySegment contribution(int member, long number, long bytes) {
    return mailbox.mailbox(member).asSlice(SharedMailbox.payload(number), bytes);
  }

  public Group group() {
    return group;
  }

  public CollectiveContext context() {
    return context;
  }

  /// Records that this rank publishes nothing as this number, which it has taken.
  void skip(long number) {
    mailbox.skip(number);
    skipping.accept(this);
  }

  /// Publishes in slots that the skipped numbers are not used. Returns whether all of them are
  /// published.
  boolean publishSkipped() {
    if (unusable) {
      return true; // no member reads the slots any more
    }
    if (!isReady() || !mailbox.enter()) {
      return false;
    }
    try {
      while (mailbox.tryPublishSkipped()) {
        wakeWhoWaits();
      }
    } finally {
      mailbox.leave();
    }
    return !mailbox.hasSkipped();
  }

  private void wakeWhoWaits() {
    for (int member = 0; member < group.size(); member++) {
      if (member != group.rank() && mailbox.isWaiting(member)) {
        wake(member);
      }
    }
  }

  /// Sends a message, because a rank checks its messages before it sleeps.
  private void wake(int member) {
    CollectiveFrame.header(
        context.scratch(), CollectiveFrame.Type.PUBLISHED, group.key(), 0, 0, 0, 0, 0);
    context.send(group.world(member), CollectiveFrame.HEADER_BYTES);
  }

  /// Ends the mailbox, because the communicator is closed.
  void end() {
    mailbox.end();
  }

  /// Returns whether the mailbox's memory may serve another communicator.
  boolean isUnused() {
    return mailbox.isUnused(member -> mesh.isGone(group.world(member)));
  }
}
