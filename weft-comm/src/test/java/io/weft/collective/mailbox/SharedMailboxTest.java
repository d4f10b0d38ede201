// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.mailbox;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.collective.mailbox.SharedMailbox.SlotState;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(120)
class SharedMailboxTest {

  /// The seed; `-Dweft.test.seed=N` repeats a run.
  private static final long SEED = Long.getLong("weft.test.seed", System.nanoTime());

  private static final int NUMBERS = 3_000;

  /// One member of a random run. It begins numbers in order, some without writing them and some for
  /// another operation than the others. It checks the numbers that it has written, in any order,
  /// and publishes the numbers that it has skipped.
  private static final class Actor {
    private final SharedMailbox mailbox;
    private final int rank;
    private final Map<Long, Long> open = new HashMap<>();
    private final MemorySegment part = Arena.ofAuto().allocate(8);
    private long begun;

    Actor(SharedMailbox mailbox, int rank) {
      this.mailbox = mailbox;
      this.rank = rank;
    }

    void begin(SplittableRandom random) {
      long number = mailbox.take();
      assertThat(number).isEqualTo(begun++);
      long subject = random.nextInt(12) == 0 ? 1000 + rank : (number + 1) * 31; // never NOTHING
      part.set(ValueLayout.JAVA_LONG, 0, value(rank, number));
      assertThat(mailbox.enter()).isTrue();
      boolean written = random.nextInt(12) > 0 && mailbox.tryWrite(number, subject, part);
      mailbox.leave();
      if (written) {
        open.put(number, subject);
      } else {
        mailbox.skip(number);
        mailbox.acknowledge(number);
      }
    }

    void pay() {
      assertThat(mailbox.enter()).isTrue();
      while (mailbox.tryPublishSkipped()) {
        assertThat(begun).isPositive();
      }
      mailbox.leave();
    }
  }

  private static long value(int rank, long number) {
    return number * 100 + rank;
  }

  /// The outcome of a number is the same for all members, and they read the values that were
  /// written. No member sees a slot with a later number than the one that it looks for.
  @ParameterizedTest(name = "{0} members")
  @ValueSource(ints = {2, 3, 5})
  void allMembersSeeTheSameOutcomesInAnyOrderOfSteps(int members) {
    SplittableRandom random = new SplittableRandom(SEED + members);
    List<SharedMailbox> mailboxes = Mailboxes.of(members);
    List<Actor> actors = new ArrayList<>();
    mailboxes.forEach(mailbox -> actors.add(new Actor(mailbox, actors.size())));
    Map<Long, SlotState> outcomes = new HashMap<>();
    int shared = 0;
    while (actors.stream().anyMatch(a -> a.begun < NUMBERS)) {
      Actor slowest = actors.stream().min(Comparator.comparingLong(a -> a.begun)).orElseThrow();
      Actor actor = random.nextInt(3) > 0 ? slowest : actors.get(random.nextInt(members));
      if (random.nextBoolean() && actor.begun < NUMBERS) {
        actor.begin(random);
      } else if (!actor.open.isEmpty()) {
        List<Long> numbers = new ArrayList<>(actor.open.keySet());
        long number = numbers.get(random.nextInt(numbers.size()));
        shared += look(actor, number, actors, outcomes) ? 1 : 0;
      }
      actors.get(random.nextInt(members)).pay();
    }
    for (int cycle = 0;
        cycle < NUMBERS && actors.stream().anyMatch(a -> !a.open.isEmpty());
        cycle++) {
      for (Actor actor : actors) {
        actor.pay();
        List.copyOf(actor.open.keySet()).forEach(number -> look(actor, number, actors, outcomes));
      }
    }
    assertThat(actors).as("nobody waits for ever, seed %d", SEED).allMatch(a -> a.open.isEmpty());
    assertThat(shared).as("numbers that went by slots, seed %d", SEED).isGreaterThan(20);
  }

  private static boolean look(
      Actor actor, long number, List<Actor> actors, Map<Long, SlotState> outcomes) {
    assertThat(actor.mailbox.enter()).isTrue();
    SlotState state = actor.mailbox.look(number, actor.open.get(number));
    if (state == SlotState.SAME) {
      for (int m = 0; m < actors.size(); m++) {
        long seen =
            actor.mailbox.mailbox(m).get(ValueLayout.JAVA_LONG, SharedMailbox.payload(number));
        assertThat(seen)
            .as("number %d of %d, seed %d", number, m, SEED)
            .isEqualTo(value(m, number));
      }
    }
    actor.mailbox.leave();
    if (state != SlotState.OPEN) {
      assertThat(outcomes.merge(number, state, (first, now) -> first))
          .as("number %d, seed %d", number, SEED)
          .isEqualTo(state);
      actor.open.remove(number);
      actor.mailbox.acknowledge(number);
    }
    return state == SlotState.SAME;
  }

  /// Two threads, in place of two processes, exchange one number at a time.
  @Test
  void partsSeenByAnotherThreadAreComplete() throws Exception {
    List<SharedMailbox> mailboxes = Mailboxes.of(2);
    CompletableFuture<Void> other =
        CompletableFuture.runAsync(() -> task(mailboxes.get(1), 1), r -> new Thread(r).start());
    task(mailboxes.get(0), 0);
    other.get(60, TimeUnit.SECONDS);
  }

  private static void task(SharedMailbox mailbox, int rank) {
    MemorySegment part = Arena.ofAuto().allocate(SharedMailbox.PAYLOAD_BYTES, 8);
    for (long i = 0; i < 2_000; i++) {
      long number = mailbox.take();
      for (int word = 0; word < SharedMailbox.PAYLOAD_BYTES / 8; word++) {
        part.setAtIndex(ValueLayout.JAVA_LONG, word, value(rank, number) + word);
      }
      assertThat(mailbox.enter()).isTrue();
      assertThat(mailbox.tryWrite(number, 5, part)).as("room for number %d", number).isTrue();
      while (mailbox.look(number, 5) == SlotState.OPEN) {
        Thread.yield();
      }
      int peer = 1 - rank;
      for (int word = 0; word < SharedMailbox.PAYLOAD_BYTES / 8; word++) {
        long at = SharedMailbox.payload(number) + word * 8L;
        assertThat(mailbox.mailbox(peer).get(ValueLayout.JAVA_LONG, at))
            .isEqualTo(value(peer, number) + word);
      }
      mailbox.acknowledge(number);
      mailbox.leave();
    }
  }

  @Test
  void aSlotThatAMemberMayStillReadIsNotOverwritten() {
    List<SharedMailbox> mailboxes = Mailboxes.of(2);
    MemorySegment part = Arena.ofAuto().allocate(8);
    SharedMailbox fast = mailboxes.get(0);
    for (long number = 0; number < SharedMailbox.SLOTS; number++) {
      assertThat(fast.tryWrite(fast.take(), 1, part)).isTrue();
    }
    long next = fast.take();
    assertThat(fast.tryWrite(next, 1, part)).as("its own is not finished").isFalse();
    for (long number = 0; number < SharedMailbox.SLOTS; number++) {
      fast.acknowledge(number);
    }
    assertThat(fast.tryWrite(next, 1, part)).as("the peer's is not finished").isFalse();
    SharedMailbox slow = mailboxes.get(1);
    slow.acknowledge(slow.take());
    assertThat(fast.tryWrite(next, 1, part)).isTrue();
    assertThat(slow.publishes(0, next)).isTrue();
  }

  @Test
  void aMailboxIsUnusedWhenAllMembersHaveAcknowledgedOrLeft() {
    List<SharedMailbox> mailboxes = Mailboxes.of(3);
    SharedMailbox mine = mailboxes.get(0);
    MemorySegment part = Arena.ofAuto().allocate(8);
    assertThat(mine.tryWrite(mine.take(), 1, part)).isTrue();
    mine.end();
    assertThat(mine.isUnused(m -> false)).isFalse();
    mailboxes.get(1).acknowledge(mailboxes.get(1).take());
    assertThat(mine.isUnused(m -> false)).isFalse();
    assertThat(mine.isUnused(m -> m == 2)).isTrue();
    mailboxes.get(2).end();
    assertThat(mine.isUnused(m -> false)).isTrue();
  }
}
