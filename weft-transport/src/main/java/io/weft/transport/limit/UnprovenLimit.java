// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.limit;

import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/// Who is connected and has proved nothing, in bounded number. When one more comes, one of the
/// source that has most of them must go; of its connections the oldest of the kind that it has more
/// of, those that are silent or those that have begun to speak. So who floods the room pushes out
/// its own, a crowd that says nothing does not push out who speaks, and the other way round.
/// Confined to one thread.
///
/// @param <T> a connection; told apart by `equals`
public final class UnprovenLimit<T> {

  private static final Duration LEAST_TIMEOUT = Duration.ofSeconds(5);
  private static final int TIMEOUTS_IN_DEADLINE = 12;

  private static final class Guest {
    private final Object source;
    private boolean spoke;

    Guest(Object source) {
      this.source = source;
    }
  }

  private final int most;
  private final Map<T, Guest> guests = new LinkedHashMap<>();

  /// Has room for so many.
  public UnprovenLimit(int most) {
    this.most = most;
  }

  /// How long one may take to prove itself: 5 s, or a twelfth of the deadline for connecting, if
  /// that is more. Where processors are so short that a user gives more time, a handshake takes
  /// longer too.
  public static Duration handshakeTimeout(Duration connectDeadline) {
    Duration share = Duration.ofNanos(Span.nanos(connectDeadline) / TIMEOUTS_IN_DEADLINE);
    return share.compareTo(LEAST_TIMEOUT) < 0 ? LEAST_TIMEOUT : share;
  }

  /// Lets one more in, which has said nothing; returns the one that must go for it.
  ///
  /// @param source who it may share with others, such as the address it comes from
  public Optional<T> admit(T who, Object source) {
    Optional<T> leaving = guests.size() < most ? Optional.empty() : victim();
    leaving.ifPresent(guests::remove);
    guests.put(who, new Guest(source));
    return leaving;
  }

  private Optional<T> victim() {
    Map<Object, Integer> counts = new HashMap<>();
    guests.values().forEach(guest -> counts.merge(guest.source, 1, Integer::sum));
    int top = counts.values().stream().mapToInt(Integer::intValue).max().orElse(0);
    int talking = 0;
    int all = 0;
    for (Guest guest : guests.values()) {
      if (counts.getOrDefault(guest.source, 0) == top) {
        all++;
        talking += guest.spoke ? 1 : 0;
      }
    }
    boolean dropsTalking = 2 * talking > all;
    for (Map.Entry<T, Guest> one : guests.entrySet()) {
      Guest guest = one.getValue();
      if (guest.spoke == dropsTalking && counts.getOrDefault(guest.source, 0) == top) {
        return Optional.of(one.getKey());
      }
    }
    return Optional.empty();
  }

  /// It has said something that makes sense. No effect if it is not here.
  public void spoke(T who) {
    Guest guest = guests.get(who);
    if (guest != null) {
      guest.spoke = true;
    }
  }

  /// It has proved itself, or it is gone. No effect if it is not here.
  public void leave(T who) {
    guests.remove(who);
  }

  /// All that fulfil this have left.
  public void leaveIf(Predicate<T> isOver) {
    guests.keySet().removeIf(isOver);
  }

  /// Whether nobody is here.
  public boolean isEmpty() {
    return guests.isEmpty();
  }

  /// Who is here now, the oldest first; a copy.
  public List<T> guests() {
    return List.copyOf(guests.keySet());
  }
}
