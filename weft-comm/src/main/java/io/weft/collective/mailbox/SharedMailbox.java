// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.mailbox;

import io.weft.collective.choice.Way;
import io.weft.transport.PeerMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/// The mailbox of one rank in a communicator, with references to the other members' mailboxes. A
/// mailbox has a few slots. A slot contains the rank's contribution to one operation: a short
/// tensor, or the location of a long tensor in mapped memory and the progress on it. Operations are
/// numbered in the order in which a rank begins them. Number n is in slot n modulo `SLOTS`.
///
/// A rank *acknowledges* a number when it will not read any member's slot of that number any more.
/// Each mailbox contains the number up to which its rank has acknowledged all numbers.
///
/// A slot is never overwritten too early. Number n is written only after every member has
/// acknowledged n - SLOTS, the number in the slot. A member's acknowledgement follows its loads
/// from the slot (release), and this rank's stores follow its load of the acknowledgement
/// (acquire). Therefore a rank that has not acknowledged a number finds in a member's slot an
/// earlier number or this one, never a later one.
///
/// Confined to the progress thread.
public final class SharedMailbox {

  /// Length of a mailbox in bytes: a page.
  static final int BYTES = 4096;

  static final int SLOTS = Way.SLOTS;

  static final int PAYLOAD_BYTES = Way.SLOT_PAYLOAD_BYTES;

  /// The subject of a slot in which nothing is published. It differs from every operation's
  /// subject.
  static final long NOTHING = 0;

  /// The combined state of the members' slots of one number.
  public enum SlotState {
    /// A member has not written its slot yet.
    OPEN,
    /// All members have written their slots, for the same operation.
    SAME,
    /// A member has written its slot for another operation.
    OTHER
  }

  private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

  /// Identity of the communicator; written once.
  private static final long OWNER = 0;

  /// The number below which this rank has acknowledged all numbers. Separate from the slots, which
  /// peers poll.
  private static final long ACKNOWLEDGED = 128;

  /// Number of waiting operations whose callers may sleep.
  private static final long WAITING = 256;

  private static final long FIRST_SLOT = 512;
  private static final long SLOT_BYTES = 448;

  // Fields of a slot: stamp (number + 1), subject (the operation) and contribution. The stamp is
  // stored last.
  private static final long STAMP = 0;
  private static final long SUBJECT = 8;
  private static final long PAYLOAD = 16;

  private final MemorySegment own;
  private final long owner;
  private final int rank;
  private final MemorySegment[] mailboxes;
  private final @Nullable PeerMemory[] peers;
  private final long[] acknowledgedBy;
  private final long[] written = new long[SLOTS];
  private final SkippedSlots skipped = new SkippedSlots();
  private int missing;
  private long next;
  private long acknowledged;
  private int unfinished;
  private int waiting;
  private boolean ended;

  /// Creates a mailbox in memory that peers do not read yet, and clears the memory.
  ///
  /// @param owner distinguishes this mailbox from later mailboxes in the same memory
  /// @param rank this rank among the members
  SharedMailbox(MemorySegment own, long owner, int rank, int members) {
    this.own = own;
    this.owner = owner;
    this.rank = rank;
    this.mailboxes = new MemorySegment[members];
    this.peers = new PeerMemory[members];
    this.acknowledgedBy = new long[members];
    this.missing = members - 1;
    Arrays.fill(mailboxes, own); // until they are known
    own.fill((byte) 0);
    LONG.setRelease(own, OWNER, owner);
  }

  /// Adds the mailbox of another member, which must not be known yet.
  void put(int member, PeerMemory memory) {
    peers[member] = memory;
    mailboxes[member] = memory.segment();
    missing--;
  }

  boolean isReady() {
    return missing == 0;
  }

  /// Takes the number of an operation that begins now.
  long take() {
    return next++;
  }

  /// Enters the mailboxes of all other members for a short time. Returns false if one of them is
  /// closed. `leave` must follow a successful call.
  ///
  /// Hot path.
  boolean enter() {
    for (int m = 0; m < peers.length; m++) {
      PeerMemory peer = peers[m];
      if (peer != null && !peer.visit()) {
        leave(m);
        return false;
      }
    }
    return true;
  }

  /// Ends an `enter`.
  ///
  /// Hot path.
  void leave() {
    leave(peers.length);
  }

  private void leave(int end) {
    for (int m = 0; m < end; m++) {
      PeerMemory peer = peers[m];
      if (peer != null) {
        peer.leave();
      }
    }
  }

  /// Publishes this rank's contribution to all members. Returns false without publishing if a
  /// member may still read the slot, or if a smaller number of this slot must be published first.
  /// Inside `enter`.
  ///
  /// Hot path.
  boolean tryWrite(long number, long subject, MemorySegment from) {
    if (!mayWrite(number)) {
      return false;
    }
    int index = (int) (number % SLOTS);
    MemorySegment.copy(from, 0, own, slot(number) + PAYLOAD, from.byteSize());
    written[index] = number;
    unfinished |= 1 << index;
    stamp(number, subject);
    return true;
  }

  /// Returns whether there is room to publish this number. Inside `enter`.
  ///
  /// Hot path.
  boolean mayWrite(long number) {
    return !skipped.isSkippedIn(number) && hasRoom(number);
  }

  /// Records that this rank does not use a number that it has taken. `tryPublishSkipped` publishes
  /// this in the slot, because the other members would otherwise wait for the number.
  void skip(long number) {
    skipped.add(number);
  }

  /// Returns whether there are skipped numbers that are not published.
  boolean hasSkipped() {
    return skipped.size() > 0;
  }

  /// Publishes in a slot that a skipped number is not used. Returns false if there is none, or no
  /// room yet. Inside `enter`.
  boolean tryPublishSkipped() {
    for (int i = 0; i < skipped.size(); i++) {
      long number = skipped.number(i);
      if (hasRoom(number)) {
        stamp(number, NOTHING);
        skipped.remove(i);
        return true;
      }
    }
    return false;
  }

  private boolean hasRoom(long number) {
    int index = (int) (number % SLOTS);
    if ((unfinished >> index & 1) != 0) {
      return false;
    }
    for (int m = 0; m < acknowledgedBy.length; m++) {
      if (m != rank && number - SLOTS >= acknowledgedBy[m]) {
        // Pairs with the release in `acknowledge`: the member's reads of the slot happened before.
        acknowledgedBy[m] = (long) LONG.getAcquire(mailboxes[m], ACKNOWLEDGED);
        if (number - SLOTS >= acknowledgedBy[m]) {
          return false;
        }
      }
    }
    return true;
  }

  private void stamp(long number, long subject) {
    long slot = slot(number);
    LONG.set(own, slot + SUBJECT, subject);
    LONG.setRelease(own, slot + STAMP, number + 1); // pairs with the acquire in `look`
    VarHandle.fullFence(); // before `isWaiting`; pairs with the one in `beginWait`
    // Fetches the next slot's cache line from a member that has read it, while this rank waits in
    // any case.
    long ahead = slot(number + 1) + STAMP;
    LONG.setOpaque(own, ahead, (long) LONG.getOpaque(own, ahead));
  }

  /// Registers an operation that begins to wait and whose caller may sleep. Members wake the caller
  /// from now on. The caller must read the slots once more before it sleeps.
  void beginWait() {
    waiting++;
    LONG.setOpaque(own, WAITING, (long) waiting);
    // Pairs with the fence in `stamp` and in `tell`: either the member sees that this rank waits,
    // or this rank sees the member's slot.
    VarHandle.fullFence();
  }

  void endWait() {
    waiting--;
    if (!ended) {
      LONG.setOpaque(own, WAITING, (long) waiting);
    }
  }

  /// Returns whether a member must be woken for the latest write. Inside `enter`.
  ///
  /// Hot path.
  boolean isWaiting(int member) {
    return (long) LONG.getOpaque(mailboxes[member], WAITING) != 0;
  }

  /// Returns the state of all members' slots of this number. Inside `enter`, until `acknowledge`.
  ///
  /// Hot path.
  SlotState look(long number, long subject) {
    long slot = slot(number);
    SlotState state = SlotState.SAME;
    for (int m = 0; m < mailboxes.length; m++) {
      if (m == rank) {
        continue;
      }
      // Pairs with the release in `stamp`: a rank that sees the stamp sees the rest of the slot.
      long stamp = (long) LONG.getAcquire(mailboxes[m], slot + STAMP);
      if (stamp <= number) {
        state = SlotState.OPEN;
      } else if (stamp != number + 1 || (long) LONG.get(mailboxes[m], slot + SUBJECT) != subject) {
        return SlotState.OTHER;
      }
    }
    return state;
  }

  /// Returns whether another member has published this number; false if its mailbox is closed or
  /// not known.
  boolean publishes(int member, long number) {
    return peek(member, slot(number) + STAMP) > number;
  }

  /// Returns a word of a member's contribution; 0 if its mailbox is closed. After `publishes`.
  long peekWord(int member, long number, long at) {
    return peek(member, payload(number) + at);
  }

  private long peek(int member, long at) {
    PeerMemory peer = peers[member];
    if (peer == null || !peer.visit()) {
      return 0;
    }
    long word = (long) LONG.getAcquire(mailboxes[member], at);
    peer.leave();
    return word;
  }

  boolean knows(int member) {
    return member == rank || peers[member] != null;
  }

  /// Returns a member's mailbox; its contribution begins at `payload`. It may be read after `look`
  /// has returned SAME and before `acknowledge`.
  MemorySegment mailbox(int member) {
    return mailboxes[member];
  }

  /// Stores a word of this rank's contribution to this number. Inside `enter`.
  ///
  /// Hot path.
  void tell(long number, long at, long word) {
    LONG.setRelease(own, payload(number) + at, word); // pairs with the acquire in `told`
    VarHandle.fullFence(); // before `isWaiting`; pairs with the one in `beginWait`
  }

  /// Returns a word of a member's contribution. The member's earlier stores are visible. Valid as
  /// for `mailbox`.
  ///
  /// Hot path.
  long told(int member, long number, long at) {
    return (long) LONG.getAcquire(mailboxes[member], payload(number) + at);
  }

  static long payload(long number) {
    return slot(number) + PAYLOAD;
  }

  int members() {
    return mailboxes.length;
  }

  /// Acknowledges a number, whether this rank has written its slot or not: this rank reads no
  /// member's slot of this number any more. Each number that was taken must be acknowledged once.
  ///
  /// Hot path.
  void acknowledge(long number) {
    if (ended) {
      return;
    }
    int index = (int) (number % SLOTS);
    if (written[index] == number) {
      unfinished &= ~(1 << index);
    }
    long until = next;
    for (int left = unfinished; left != 0; left &= left - 1) {
      until = Math.min(until, written[Integer.numberOfTrailingZeros(left)]);
    }
    if (until > acknowledged) {
      acknowledged = until;
      LONG.setRelease(own, ACKNOWLEDGED, until); // pairs with the acquire in `hasRoom`
    }
  }

  /// Ends this mailbox: this rank begins nothing more, reads no slots, and writes nothing here from
  /// now on.
  void end() {
    ended = true;
    LONG.setRelease(own, ACKNOWLEDGED, Long.MAX_VALUE);
  }

  /// Returns whether no member reads this mailbox any more, so that its memory may serve another
  /// one. After `end`.
  ///
  /// @param gone tells whether a member is gone
  boolean isUnused(IntPredicate gone) {
    for (int m = 0; m < peers.length; m++) {
      if (m != rank && !gone.test(m) && !isUnusedBy(m)) {
        return false;
      }
    }
    return true;
  }

  private boolean isUnusedBy(int member) {
    PeerMemory peer = peers[member];
    if (peer == null) {
      return true; // this rank wrote nothing, because not all mailboxes were known
    }
    if (!peer.visit()) {
      return true;
    }
    MemorySegment theirs = mailboxes[member];
    boolean ended =
        (long) LONG.getAcquire(theirs, OWNER) != owner
            || (long) LONG.getAcquire(theirs, ACKNOWLEDGED) >= next;
    peer.leave();
    return ended;
  }

  private static long slot(long number) {
    return FIRST_SLOT + number % SLOTS * SLOT_BYTES;
  }
}
