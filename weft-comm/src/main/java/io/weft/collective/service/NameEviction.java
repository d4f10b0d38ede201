// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.weft.collective.exchange.CollectiveContext;
import io.weft.collective.frame.CollectiveFrame;
import io.weft.collective.group.Group;
import io.weft.collective.group.LongMap;
import io.weft.collective.group.NameUse;
import io.weft.collective.group.NameUses;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Bounds the names that are kept. A name may be forgotten only by all members at once, since its
/// next use has the number 0 then. So member 0 asks (FORGET) about names that were not used for
/// long; each member says to all (KEPT) of which it knows as many uses and has none under way, and
/// begins none of these until it has heard all. What all have said yes to is forgotten. Messages of
/// one member arrive in order, so what comes after its KEPT belongs to a later use.
///
/// Confined to the progress thread.
final class NameEviction {

  /// Names of one communicator beyond which the oldest are forgotten.
  public static final int MOST_NAMES = 1 << 15;

  /// A name that was among the last so many uses is not asked about.
  private static final int RECENT_USES = 1 << 13;

  /// So many uses pass between two searches for names to ask about, each of which looks at all.
  private static final int USES_BETWEEN = 1 << 10;

  private static final int NAME_BYTES = Long.BYTES + Integer.BYTES;

  /// Most names of one question.
  private static final int MOST_ASKED = 4096;

  private final NameUses names;
  private final Supplier<CollectiveContext> context;
  private final Predicate<NameUse> idle;
  private final IntPredicate left;
  private final Runnable decided;
  private final LongMap<Round> rounds = new LongMap<>();
  private int open;

  /// @param idle whether no use of a name is under way here
  /// @param left whether a world rank has left the job or is lost
  /// @param decided told when names are no longer held
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

  /// The questions of one communicator, one after the other.
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

  /// A message for the next question.
  private record Early(int member, CollectiveFrame.Type type, byte[] bytes) {}

  /// Whether a question is open, so that names may be held.
  ///
  /// Hot path.
  public boolean isOpen() {
    return open > 0;
  }

  /// Whether a name must not be used until `decided`.
  public boolean holds(long key) {
    NameUse use = open == 0 ? null : names.get(key);
    return use != null && use.isHeld();
  }

  /// Whether a frame for the first use of a held name belongs to one that is to begin, after all
  /// have forgotten the earlier ones.
  public boolean isNews(NameUse use, int fromRank, int sequence) {
    Round round = use.isHeld() && sequence == 0 ? rounds.get(use.group().key()) : null;
    int member = use.group().member(fromRank);
    return round != null && member >= 0 && !round.silent.get(member);
  }

  /// A name was used. Asks if there are too many.
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
    round.silent.clear(0); // who asks says yes
    round.silent.clear(group.rank());
    open++;
  }

  /// Sends what stands in the scratch to all others.
  private void tell(Group group, Round round, CollectiveFrame.Type type, long bytes) {
    CollectiveContext out = context.get();
    for (int m = 0; m < group.size(); m++) {
      if (m != group.rank()) {
        CollectiveFrame.header(out.scratch(), type, group.key(), 0, 0, 0, 0, round.number);
        out.send(group.world(m), bytes);
      }
    }
  }

  /// A FORGET or KEPT of a member. Returns what is wrong with it, null if nothing is.
  public @Nullable String onMessage(
      Group group, int member, CollectiveFrame.Type type, MemorySegment message) {
    if (group.failure() != null) {
      return null;
    }
    Round round = round(group);
    int number = CollectiveFrame.aux(message);
    boolean isQuestion = type == CollectiveFrame.Type.FORGET;
    if (isQuestion && (member != 0 || number != round.number + 1)) {
      return "it asked to forget names, which is not its turn";
    }
    if (number == round.number && !isQuestion) {
      hear(group, round, member, message);
    } else if (number == round.number + 1 && isQuestion && !round.isOpen) {
      answer(group, round, message);
    } else if (number == round.number + 1 && group.rank() != 0) {
      if (round.early.size() > group.size()) {
        return "it said twice which names it keeps";
      }
      round.early.add(new Early(member, type, message.toArray(JAVA_BYTE)));
    } else if (number - round.number > 0) {
      return "it said which names it keeps without being asked";
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
      round.agreed.clear(); // it has not said it before it left, to nobody
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

  /// A member has left the job: a question that it has not answered stays without effect.
  public void onLeft(Group group, int member) {
    Round round = rounds.get(group.key());
    if (round != null && round.isOpen && round.silent.get(member)) {
      round.agreed.clear();
      decide(group, round);
    }
  }

  /// The communicator is closed, or has failed: nothing of it is under way any more.
  public void close(Group group) {
    Round round = rounds.remove(group.key());
    if (round != null && round.isOpen) {
      open--;
    }
  }
}
