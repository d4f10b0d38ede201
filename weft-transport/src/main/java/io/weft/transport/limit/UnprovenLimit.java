// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.limit;

import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/// The bounded set of connections that have not proved the secret. When it is full, a new
/// connection evicts another. Among the connections of the sources that have most, it evicts the
/// oldest of the more numerous kind, silent or speaking. A source that floods the set therefore
/// evicts its own connections; a crowd of silent connections does not evict speaking ones, and vice
/// versa. Confined to one thread.
///
/// @param <T> a connection, identified by `equals`
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

  /// Creates a set with room for `most` connections.
  public UnprovenLimit(int most) {
    this.most = most;
  }

  /// Returns the time in which a connection must prove itself: 5 s, or a twelfth of the connect
  /// deadline if that is more. A user raises the deadline on overloaded machines, where handshakes
  /// also take longer.
  public static Duration handshakeTimeout(Duration connectDeadline) {
    Duration share =
        Duration.ofNanos(ClampedDuration.nanos(connectDeadline) / TIMEOUTS_IN_DEADLINE);
    return share.compareTo(LEAST_TIMEOUT) < 0 ? LEAST_TIMEOUT : share;
  }

  /// Admits a connection that has sent nothing; returns the connection that it evicts.
  ///
  /// @param source the possibly shared origin of the connection, such as its address
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

  /// Records that a connection has sent meaningful data. No effect if it is not in the set.
  public void spoke(T who) {
    Guest guest = guests.get(who);
    if (guest != null) {
      guest.spoke = true;
    }
  }

  /// Removes a connection that has proved itself or ended. No effect if it is not in the set.
  public void leave(T who) {
    guests.remove(who);
  }

  /// Removes all connections that satisfy the predicate.
  public void leaveIf(Predicate<T> isEnded) {
    guests.keySet().removeIf(isEnded);
  }

  /// Returns whether the set is empty.
  public boolean isEmpty() {
    return guests.isEmpty();
  }

  /// Returns a copy of the set, oldest first.
  public List<T> guests() {
    return List.copyOf(guests.keySet());
  }
}
