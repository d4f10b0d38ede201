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

/// The slots of one communicator on this rank: its mailbox, and those of the others once they have
/// said where they lie. Unusable where one rank cannot reach another's: then all hear it and all
/// operations go by messages. Confined to the progress thread.
public final class MailboxSlots {

  private final Group group;
  private final Mesh mesh;
  private final CollectiveContext context;
  private final @Nullable MemoryRegion region;
  private final SharedMailbox mailbox;
  private final TreeSum sum;
  private final Consumer<MailboxSlots> skipping;
  private boolean unusable;

  /// `region` is null where there is no memory for a mailbox; `skipping` is told when there is
  /// something to `publishSkipped`.
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

  /// What stands in a slot beside the contribution: a hash of name, use and signature.
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

  /// Whether this rank may publish something.
  public boolean isReady() {
    return mailbox.isReady() && !unusable;
  }

  /// A member's mailbox, which is not known yet; false if it cannot be reached from here.
  boolean put(int member, RemoteRegion remote) {
    int world = group.world(member);
    PeerMemory memory = mesh.isGone(world) ? null : mesh.endpoint(world).map(remote);
    if (memory == null || memory.segment().byteSize() < SharedMailbox.BYTES) {
      return false;
    }
    mailbox.put(member, memory);
    return true;
  }

  /// This rank's mailbox, with those of the others that are known.
  SharedMailbox mailbox() {
    return mailbox;
  }

  /// Publishes this rank's contribution and wakes who waits for it; false if there is no room yet.
  /// Inside `SharedMailbox.enter`.
  ///
  /// Hot path.
  public boolean publish(long number, long subject, MemorySegment from) {
    if (!mailbox.tryWrite(number, subject, from)) {
      return false;
    }
    wakeWhoWaits();
    return true;
  }

  /// Stores a word of what this rank publishes, and wakes who waits for it. Inside
  /// `SharedMailbox.enter`.
  ///
  /// Hot path.
  public void tell(long number, long at, long word) {
    mailbox.tell(number, at, word);
    wakeWhoWaits();
  }

  /// See `SharedMailbox.told`.
  public long told(int member, long number, long at) {
    return mailbox.told(member, number, at);
  }

  /// The same outside `SharedMailbox.enter`; 0 if the member's mailbox is closed.
  public long peek(int member, long number, long at) {
    return mailbox.publishes(member, number) ? mailbox.peekWord(member, number, at) : 0;
  }

  /// A member's contribution; read after `SharedMailbox.look` has said SAME and before
  /// `acknowledge`.
  public MemorySegment contribution(int member, long number, long bytes) {
    return mailbox.mailbox(member).asSlice(SharedMailbox.payload(number), bytes);
  }

  /// Whose slots these are.
  public Group group() {
    return group;
  }

  /// What exchanges use of the mesh.
  public CollectiveContext context() {
    return context;
  }

  /// Nothing is published as this number, which has been taken.
  void skip(long number) {
    mailbox.skip(number);
    skipping.accept(this);
  }

  /// Says in slots that nothing is published as the numbers that are skipped. Returns whether all
  /// is said.
  boolean publishSkipped() {
    if (unusable) {
      return true; // nobody looks any more
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

  /// By a message, which a rank that is about to sleep sees.
  private void wake(int member) {
    CollectiveFrame.header(
        context.scratch(), CollectiveFrame.Type.PUBLISHED, group.key(), 0, 0, 0, 0, 0);
    context.send(group.world(member), CollectiveFrame.HEADER_BYTES);
  }

  /// The communicator is closed.
  void end() {
    mailbox.end();
  }

  /// Whether the mailbox's memory may serve another communicator.
  boolean isUnused() {
    return mailbox.isUnused(member -> mesh.isGone(group.world(member)));
  }
}
