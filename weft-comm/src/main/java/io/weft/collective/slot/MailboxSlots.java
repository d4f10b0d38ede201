// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.slot;

import io.weft.cluster.Mesh;
import io.weft.collective.exchange.CollectiveContext;
import io.weft.collective.frame.CollectiveFrame;
import io.weft.collective.frame.Hash;
import io.weft.collective.group.Group;
import io.weft.collective.group.NameUse;
import io.weft.collective.group.OperationSignature;
import io.weft.collective.slot.SharedMailbox.Sight;
import io.weft.transport.MemoryRegion;
import io.weft.transport.PeerMemory;
import io.weft.transport.RemoteRegion;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The slots of one communicator on this rank: its board, and those of the others once they have
/// said where they lie. Unusable where one rank cannot reach another's: then all hear it and all
/// operations go by messages. Confined to the lane's thread.
public final class MailboxSlots {

  private final Group group;
  private final Mesh mesh;
  private final CollectiveContext wires;
  private final @Nullable MemoryRegion region;
  private final SharedMailbox board;
  private final TreeSum sum;
  private final Consumer<MailboxSlots> debtors;
  private boolean unusable;

  /// `region` is null where there is no memory for a board; `debtors` is told when there is
  /// something to `pay`.
  MailboxSlots(
      Group group, Mesh mesh, CollectiveContext wires, @Nullable MemoryRegion region, Consumer<MailboxSlots> debtors) {
    this.group = group;
    this.mesh = mesh;
    this.wires = wires;
    this.region = region;
    this.debtors = debtors;
    this.unusable = region == null;
    MemorySegment memory =
        region == null
            ? MemorySegment.ofArray(new long[SharedMailbox.BYTES / Long.BYTES])
            : region.segment().asSlice(0, SharedMailbox.BYTES);
    this.board = new SharedMailbox(memory, group.key(), group.rank(), group.size());
    this.sum = new TreeSum(board);
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

  /// Whether this rank may show something.
  public boolean isReady() {
    return board.isReady() && !unusable;
  }

  /// Whether a member's board is known.
  boolean knows(int member) {
    return board.knows(member);
  }

  /// A member's board, which is not known yet; false if it cannot be reached from here.
  boolean put(int member, RemoteRegion remote) {
    int world = group.world(member);
    PeerMemory memory = mesh.isGone(world) ? null : mesh.endpoint(world).map(remote);
    if (memory == null || memory.segment().byteSize() < SharedMailbox.BYTES) {
      return false;
    }
    board.put(member, memory);
    return true;
  }

  /// See `SharedMailbox.take`.
  public long take() {
    return board.take();
  }

  /// See `SharedMailbox.enter`.
  public boolean enter() {
    return board.enter();
  }

  public void leave() {
    board.leave();
  }

  /// Shows this rank's contribution and wakes who waits for it; false if there is no room yet.
  /// Inside `enter`.
  ///
  /// Hot path.
  public boolean show(long number, long subject, MemorySegment from) {
    if (!board.tryWrite(number, subject, from)) {
      return false;
    }
    wakeWhoWaits();
    return true;
  }

  /// Adds a word to what this rank shows, which was 0, and wakes who waits for it. Inside `enter`.
  ///
  /// Hot path.
  public void tell(long number, long at, long word) {
    board.tell(number, at, word);
    wakeWhoWaits();
  }

  /// See `SharedMailbox.told`.
  public long told(int member, long number, long at) {
    return board.told(member, number, at);
  }

  /// See `SharedMailbox.hasTold`.
  public boolean hasTold(int member, long number, long at) {
    return board.hasTold(member, number, at);
  }

  /// A member's contribution; read after `look` has said SAME and before `finish`.
  public MemorySegment contribution(int member, long number, long bytes) {
    return board.board(member).asSlice(SharedMailbox.payload(number), bytes);
  }

  /// Whose slots these are.
  public Group group() {
    return group;
  }

  /// What exchanges use of the mesh.
  public CollectiveContext wires() {
    return wires;
  }

  /// Nothing is shown as this number, which has been taken.
  void owe(long number) {
    board.owe(number);
    debtors.accept(this);
  }

  /// Shows the others that nothing will be shown as the numbers that are owed. Returns whether all
  /// is paid.
  boolean pay() {
    if (unusable) {
      return true; // nobody looks any more
    }
    if (!isReady() || !enter()) {
      return false;
    }
    try {
      while (board.tryPay()) {
        wakeWhoWaits();
      }
    } finally {
      leave();
    }
    return !board.owes();
  }

  private void wakeWhoWaits() {
    for (int member = 0; member < group.size(); member++) {
      if (member != group.rank() && board.isWaiting(member)) {
        wake(member);
      }
    }
  }

  /// By a message, since a nudge may come just before a sleep.
  private void wake(int member) {
    CollectiveFrame.header(wires.scratch(), CollectiveFrame.Type.SHOWN, group.key(), 0, 0, 0, 0, 0);
    wires.send(group.world(member), CollectiveFrame.HEADER_BYTES);
  }

  /// See `SharedMailbox.beginWait`.
  void beginWait() {
    board.beginWait();
  }

  void endWait() {
    board.endWait();
  }

  /// Hot path.
  public Sight look(long number, long subject) {
    return board.look(number, subject);
  }

  /// See `SharedMailbox.shows`.
  public boolean shows(int member, long number) {
    return board.shows(member, number);
  }

  /// Hot path.
  public void finish(long number) {
    board.finish(number);
  }

  /// The communicator is closed.
  void end() {
    board.end();
  }

  /// Whether the board's memory may serve another communicator.
  boolean isForsaken() {
    return board.isForsaken(member -> mesh.isGone(group.world(member)));
  }
}
