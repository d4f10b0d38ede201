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

/// What one rank publishes to the other members of a communicator: a few slots, each with what it
/// brings to one operation, which is a short tensor or where a long one lies in mapped memory and
/// how far it is; and the mailboxes of the others. Operations are numbered in the order in which a
/// rank begins them; number n stands in slot n modulo `SLOTS`.
///
/// Vocabulary: a number is *acknowledged* by a rank when that rank will not look at anybody's slot
/// of that number any more. Each mailbox says up to which number all are acknowledged.
///
/// Why a slot is never overwritten too early: number n is written only when every member has said
/// that it has acknowledged n - SLOTS, the number that stands in the slot. Its saying so comes
/// after its loads from the slot (release), and this rank's stores come after it has heard it
/// (acquire). So who has not acknowledged a number finds in the slot of a member an earlier number
/// or this one, never a later one.
///
/// Confined to the progress thread.
public final class SharedMailbox {

  /// Length of a mailbox: a page.
  static final int BYTES = 4096;

  /// Slots of a mailbox.
  static final int SLOTS = Way.SLOTS;

  /// Longest contribution.
  static final int PAYLOAD_BYTES = Way.SLOT_PAYLOAD_BYTES;

  /// The subject of a slot in which nothing is published; no operation has it.
  static final long NOTHING = 0;

  /// What stands in the members' slots of one number.
  public enum SlotState {
    /// Somebody has not written it yet.
    OPEN,
    /// All have written it, for the same operation.
    SAME,
    /// Somebody has written it for another operation.
    OTHER
  }

  private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

  /// Written once: whose mailbox it is.
  private static final long OWNER = 0;

  /// All smaller numbers are acknowledged here. Apart from the slots, which peers poll.
  private static final long ACKNOWLEDGED = 128;

  /// How many operations wait here whose caller may sleep.
  private static final long WAITING = 256;

  private static final long FIRST_SLOT = 512;
  private static final long SLOT_BYTES = 448;

  // In a slot: number + 1, what the operation is, the contribution. The first is stored last.
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

  /// A fresh mailbox in memory that no peer looks at; it is cleared.
  ///
  /// @param owner tells it from mailboxes that lie in the same memory later
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

  /// The mailbox of another member, which is not known yet.
  void put(int member, PeerMemory memory) {
    peers[member] = memory;
    mailboxes[member] = memory.segment();
    missing--;
  }

  /// Whether the mailboxes of all members are known.
  boolean isReady() {
    return missing == 0;
  }

  /// The number of an operation that begins now.
  long take() {
    return next++;
  }

  /// Enters the mailboxes of all others, for a short time; false if one of them is closed. Followed
  /// by `leave`.
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

  /// Publishes this rank's contribution to all. False, and nothing is published, if some member may
  /// still look at what stands in the slot, or a smaller number is to be published first. Inside
  /// `enter`.
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

  /// Whether there is room for what is to be written as this number. Inside `enter`.
  ///
  /// Hot path.
  boolean mayWrite(long number) {
    return !skipped.isSkippedIn(number) && hasRoom(number);
  }

  /// This rank publishes nothing as a number that it has taken. The others must see that, or they
  /// would wait for it with what they publish as this number: so it is said in the slot, by
  /// `tryPublishSkipped`.
  void skip(long number) {
    skipped.add(number);
  }

  /// Whether there are such numbers of which no slot says it.
  boolean hasSkipped() {
    return skipped.size() > 0;
  }

  /// Says in a slot that nothing is published as a skipped number; false if there is none, or no
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
        // Pairs with the release in `acknowledge`: what the member has read, it has read before.
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
    // Fetches the next slot's cache line from whoever has looked at it, while we wait anyway.
    long ahead = slot(number + 1) + STAMP;
    LONG.setOpaque(own, ahead, (long) LONG.getOpaque(own, ahead));
  }

  /// An operation begins to wait, and whoever waits for it may sleep: members wake him from now on.
  /// Look once more before the sleep.
  void beginWait() {
    waiting++;
    LONG.setOpaque(own, WAITING, (long) waiting);
    // Pairs with the fence in `stamp` and in `tell`: either the member sees that we wait or we see
    // its slot.
    VarHandle.fullFence();
  }

  /// It waits no longer.
  void endWait() {
    waiting--;
    if (!ended) {
      LONG.setOpaque(own, WAITING, (long) waiting);
    }
  }

  /// Whether a member must be woken for what was just written. Inside `enter`.
  ///
  /// Hot path.
  boolean isWaiting(int member) {
    return (long) LONG.getOpaque(mailboxes[member], WAITING) != 0;
  }

  /// What all members publish as this number. Inside `enter`, until `acknowledge`.
  ///
  /// Hot path.
  SlotState look(long number, long subject) {
    long slot = slot(number);
    SlotState state = SlotState.SAME;
    for (int m = 0; m < mailboxes.length; m++) {
      if (m == rank) {
        continue;
      }
      // Pairs with the release in `stamp`: with the stamp, the rest of the slot is seen.
      long stamp = (long) LONG.getAcquire(mailboxes[m], slot + STAMP);
      if (stamp <= number) {
        state = SlotState.OPEN;
      } else if (stamp != number + 1 || (long) LONG.get(mailboxes[m], slot + SUBJECT) != subject) {
        return SlotState.OTHER;
      }
    }
    return state;
  }

  /// Whether another member publishes something as this number; false if its mailbox is closed or
  /// not known.
  boolean publishes(int member, long number) {
    return peek(member, slot(number) + STAMP) > number;
  }

  /// What it publishes there; 0 if its mailbox is closed. After `publishes`.
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

  /// Whether a member's mailbox is known.
  boolean knows(int member) {
    return member == rank || peers[member] != null;
  }

  /// A member's mailbox; its contribution begins at `payload`. Read after `look` has said SAME and
  /// before `acknowledge`.
  MemorySegment mailbox(int member) {
    return mailboxes[member];
  }

  /// Stores a word of what this rank publishes as this number. Inside `enter`.
  ///
  /// Hot path.
  void tell(long number, long at, long word) {
    LONG.setRelease(own, payload(number) + at, word); // pairs with the acquire in `told`
    VarHandle.fullFence(); // before `isWaiting`; pairs with the one in `beginWait`
  }

  /// What a member publishes there; what it did before is seen. As `mailbox`.
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

  /// This rank looks at nobody's slot of this number any more, whether it has written its own or
  /// not. Each number that was taken is acknowledged once.
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

  /// This rank begins nothing more and looks at nothing any more. Nothing is written here from now
  /// on.
  void end() {
    ended = true;
    LONG.setRelease(own, ACKNOWLEDGED, Long.MAX_VALUE);
  }

  /// Whether nobody looks at this mailbox any more, so that its memory may serve another one. After
  /// `end`.
  ///
  /// @param gone whether a member is gone
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
      return true; // nothing was written before all mailboxes were known, so it finds nothing here
    }
    if (!peer.visit()) {
      return true;
    }
    MemorySegment theirs = mailboxes[member];
    boolean over =
        (long) LONG.getAcquire(theirs, OWNER) != owner
            || (long) LONG.getAcquire(theirs, ACKNOWLEDGED) >= next;
    peer.leave();
    return over;
  }

  private static long slot(long number) {
    return FIRST_SLOT + number % SLOTS * SLOT_BYTES;
  }
}
