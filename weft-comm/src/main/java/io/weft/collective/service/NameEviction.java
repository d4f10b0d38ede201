// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.weft.collective.exchange.CollectiveContext;
import io.weft.collective.frame.CollectiveFrame;
import io.weft.collective.group.Group;
import io.weft.collective.group.NameUse;
import io.weft.collective.group.NameUses;
import io.weft.transport.table.LongMap;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Bounds the number of known names. All members must forget a name together, because its next use
/// then has the number 0. Member 0 proposes names that were not used for long (FORGET). Each member
/// replies to all (KEPT) with the proposed names whose count of uses equals its own and which it
/// has not in flight. It begins no operation of these names until it has received all replies.
/// Names on which all agree are forgotten. Messages of one member arrive in order, so frames after
/// its KEPT belong to a later use.
///
/// Confined to the progress thread.
final class NameEviction {

  /// The number of names of one communicator beyond which the oldest are forgotten.
  public static final int MOST_NAMES = 1 << 15;

  /// The number of latest uses whose names are not proposed.
  private static final int RECENT_USES = 1 << 13;

  /// The number of uses between two searches for old names. A search scans all names.
  private static final int USES_BETWEEN = 1 << 10;

  private static final int NAME_BYTES = Long.BYTES + Integer.BYTES;

  /// The maximum number of names in one proposal.
  private static final int MOST_ASKED = 4096;

  private final NameUses names;
  private final Supplier<CollectiveContext> context;
  private final Predicate<NameUse> idle;
  private final IntPredicate left;
  private final Runnable decided;
  private final LongMap<Round> rounds = new LongMap<>();
  private int open;

  /// Creates the eviction.
  ///
  /// @param idle tells whether no use of a name is in flight here
  /// @param left tells whether a world rank has left the job or is lost
  /// @param decided called when names are no longer held
  public NameEviction(
      NameUses names,
      Supplier<CollectiveContext> context,
      Predicate<NameUse> idle,
      IntPredicate left,
      Runnable decided) {
    this.names = names;
    this.context = context;
    this.idle = idle;
    this.left = left;
    this.decided = decided;
  }

  /// The proposals of one communicator, in sequence.
  private static final class Round {
    private final ArrayDeque<Long> oldest = new ArrayDeque<>();
    private final List<Early> early = new ArrayList<>();
    private final BitSet silent = new BitSet();
    private BitSet agreed = new BitSet();
    private long[] keys = {};
    private boolean isOpen;
    private int number;
    private long searched;
  }

  /// A message for the next proposal.
  private record Early(int member, CollectiveFrame.Type type, byte[] bytes) {}

  /// Returns whether a proposal is open, so that names may be held.
  ///
  /// Hot path.
  public boolean isOpen() {
    return open > 0;
  }

  /// Returns whether a name must not be used until `decided`.
  public boolean holds(long key) {
    NameUse use = open == 0 ? null : names.get(key);
    return use != null && use.isHeld();
  }

  /// Returns whether a frame of the first use of a held name belongs to a future operation, which
  /// begins after all members have forgotten the earlier ones.
  public boolean isNews(NameUse use, int fromRank, int sequence) {
    Round round = use.isHeld() && sequence == 0 ? rounds.get(use.group().key()) : null;
    int member = use.group().member(fromRank);
    return round != null && member >= 0 && !round.silent.get(member);
  }

  /// Counts a use of a name. Proposes names to forget if there are too many.
  public void onUse(Group group) {
    if (group.names() > MOST_NAMES && group.rank() == 0 && group.failure() == null) {
      Round round = round(group);
      if (!round.isOpen) {
        if (round.oldest.isEmpty() && names.clock() - round.searched > USES_BETWEEN) {
          round.searched = names.clock();
          names.collect(group, RECENT_USES, round.oldest);
        }
        ask(group, round);
      }
    }
  }

  private Round round(Group group) {
    Round round = rounds.get(group.key());
    if (round == null) {
      round = new Round();
      rounds.put(group.key(), round);
    }
    return round;
  }

  private void ask(Group group, Round round) {
    for (int member = 0; member < group.size(); member++) {
      if (left.test(group.world(member))) {
        return;
      }
    }
    MemorySegment frame = context.get().scratch();
    long most =
        Math.min(MOST_ASKED, (frame.byteSize() - CollectiveFrame.HEADER_BYTES) / NAME_BYTES);
    List<NameUse> asked = new ArrayList<>();
    while (asked.size() < most && !round.oldest.isEmpty()) {
      NameUse use = names.get(round.oldest.removeFirst());
      if (use != null && idle.test(use) && !use.isHeld()) {
        frame.set(JAVA_LONG_UNALIGNED, at(asked.size()), use.key());
        frame.set(JAVA_INT_UNALIGNED, at(asked.size()) + Long.BYTES, use.count());
        asked.add(use);
      }
    }
    if (asked.isEmpty()) {
      return;
    }
    begin(group, round, asked.stream().mapToLong(NameUse::key).toArray());
    asked.forEach(NameUse::hold);
    round.agreed.set(0, asked.size());
    tell(group, round, CollectiveFrame.Type.FORGET, at(asked.size()));
    decideIfAllHaveSpoken(group, round);
  }

  private static long at(int name) {
    return CollectiveFrame.HEADER_BYTES + (long) name * NAME_BYTES;
  }

  private void begin(Group group, Round round, long[] keys) {
    round.keys = keys;
    round.number++;
    round.isOpen = true;
    round.agreed = new BitSet();
    round.silent.set(0, group.size());
    round.silent.clear(0); // member 0 agrees by asking
    round.silent.clear(group.rank());
    open++;
  }

  private void tell(Group group, Round round, CollectiveFrame.Type type, long bytes) {
    CollectiveContext out = context.get();
    for (int m = 0; m < group.size(); m++) {
      if (m != group.rank()) {
        CollectiveFrame.header(out.scratch(), type, group.key(), 0, 0, 0, 0, round.number);
        out.send(group.world(m), bytes);
      }
    }
  }

  /// Handles a FORGET or KEPT of a member. Returns the protocol violation, or null.
  public @Nullable String onMessage(
      Group group, int member, CollectiveFrame.Type type, MemorySegment message) {
    if (group.failure() != null) {
      return null;
    }
    Round round = round(group);
    int number = CollectiveFrame.aux(message);
    boolean isQuestion = type == CollectiveFrame.Type.FORGET;
    if (isQuestion && (member != 0 || number != round.number + 1)) {
      return "it proposed names to forget out of turn";
    }
    if (number == round.number && !isQuestion) {
      hear(group, round, member, message);
    } else if (number == round.number + 1 && isQuestion && !round.isOpen) {
      answer(group, round, message);
    } else if (number == round.number + 1 && group.rank() != 0) {
      if (round.early.size() > group.size()) {
        return "it replied twice to a proposal of names to forget";
      }
      round.early.add(new Early(member, type, message.toArray(JAVA_BYTE)));
    } else if (number - round.number > 0) {
      return "it replied to a proposal of names to forget that was not sent";
    }
    return null;
  }

  private void answer(Group group, Round round, MemorySegment question) {
    int count = (int) ((question.byteSize() - CollectiveFrame.HEADER_BYTES) / NAME_BYTES);
    long[] keys = new long[count];
    BitSet yes = new BitSet();
    for (int i = 0; i < count; i++) {
      keys[i] = question.get(JAVA_LONG_UNALIGNED, at(i));
      NameUse use = names.get(keys[i]);
      if (use != null
          && use.group() == group
          && use.count() == question.get(JAVA_INT_UNALIGNED, at(i) + Long.BYTES)
          && !use.isHeld()
          && idle.test(use)) {
        use.hold();
        yes.set(i);
      }
    }
    begin(group, round, keys);
    round.agreed = yes;
    byte[] bits = yes.toByteArray();
    MemorySegment frame = context.get().scratch();
    MemorySegment.copy(
        MemorySegment.ofArray(bits), 0, frame, CollectiveFrame.HEADER_BYTES, bits.length);
    tell(group, round, CollectiveFrame.Type.KEPT, CollectiveFrame.HEADER_BYTES + bits.length);
    List<Early> due = List.copyOf(round.early);
    round.early.clear();
    for (Early kept : due) {
      hear(group, round, kept.member(), MemorySegment.ofArray(kept.bytes()));
    }
    if (round.isOpen && round.silent.stream().anyMatch(m -> left.test(group.world(m)))) {
      round.agreed.clear(); // a silent member that has left has replied to no member
      decide(group, round);
    } else {
      decideIfAllHaveSpoken(group, round);
    }
  }

  private void hear(Group group, Round round, int member, MemorySegment kept) {
    if (round.isOpen && round.silent.get(member)) {
      round.silent.clear(member);
      round.agreed.and(BitSet.valueOf(CollectiveFrame.body(kept).toArray(JAVA_BYTE)));
      decideIfAllHaveSpoken(group, round);
    }
  }

  private void decideIfAllHaveSpoken(Group group, Round round) {
    if (round.isOpen && round.silent.isEmpty()) {
      decide(group, round);
    }
  }

  private void decide(Group group, Round round) {
    round.isOpen = false;
    round.silent.clear();
    open--;
    for (int i = 0; i < round.keys.length; i++) {
      NameUse use = names.get(round.keys[i]);
      if (use != null && use.group() == group && use.isHeld()) {
        if (round.agreed.get(i)) {
          names.forget(use);
        } else {
          names.release(use);
        }
      }
    }
    decided.run();
    for (Early next : round.early) {
      if (next.type() == CollectiveFrame.Type.FORGET) {
        round.early.remove(next);
        answer(group, round, MemorySegment.ofArray(next.bytes()));
        return;
      }
    }
    if (group.rank() == 0 && !round.isOpen && !round.oldest.isEmpty()) {
      ask(group, round);
    }
  }

  /// Handles the exit of a member: a proposal without its reply has no effect.
  public void onLeft(Group group, int member) {
    Round round = rounds.get(group.key());
    if (round != null && round.isOpen && round.silent.get(member)) {
      round.agreed.clear();
      decide(group, round);
    }
  }

  /// Forgets the proposals of a communicator that is closed or has failed.
  public void close(Group group) {
    Round round = rounds.remove(group.key());
    if (round != null && round.isOpen) {
      open--;
    }
  }
}
