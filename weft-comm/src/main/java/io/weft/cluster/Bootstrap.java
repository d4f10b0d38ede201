// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.agent.Ticker;
import io.weft.comm.CommException;
import io.weft.transport.Address;
import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// The first meeting of a job's ranks, in which each publishes its addresses and learns those of
/// all others. User thread.
public final class Bootstrap {

  private static final Duration LAST_WORDS = Duration.ofSeconds(1);

  private final Ticker ticker;
  private final Store store;
  private final LaunchEnvironment launch;
  private final long epoch;
  private final Duration limit;
  private final long endNanos;
  private int meeting;

  private Bootstrap(
      Ticker ticker, Store store, LaunchEnvironment launch, long epoch, Duration limit) {
    this.ticker = ticker;
    this.store = store;
    this.launch = launch;
    this.epoch = epoch;
    this.limit = limit;
    this.endNanos = ticker.nanos() + ClampedDuration.nanos(limit);
  }

  /// Exchanges addresses with all ranks of this epoch. Local ranks are numbered in order of rank on
  /// each host, cross ranks in order of rank among equal local ranks. Throws `CommException.Setup`
  /// naming the ranks that did not arrive, or the setting on which they disagree.
  ///
  /// @param self the calling rank's process
  /// @param mine the listening addresses of its transports
  /// @param settings the settings that must be equal on all ranks, as `NAME=VALUE`
  public static Topology exchange(
      Ticker ticker,
      Store store,
      LaunchEnvironment launch,
      long epoch,
      JobProcess self,
      List<Address> mine,
      List<String> settings,
      Duration limit)
      throws InterruptedException {
    return new Bootstrap(ticker, store, launch, epoch, limit)
        .meet(RankEntry.of(self, launch.size(), mine, settings));
  }

  private Topology meet(RankEntry own) throws InterruptedException {
    enterNextMeeting(own);
    store.put(key(launch.rank()), own.encode());
    var entries = new ArrayList<RankEntry>();
    for (int rank = 0; rank < launch.size(); rank++) {
      RankEntry entry = entry(rank, await(rank));
      requireSameSize(rank, entry, launch.rank(), own);
      requireSameSettings(rank, entry, launch.rank(), own);
      entries.add(entry);
    }
    if (!entries.get(launch.rank()).sameProcess(own)) {
      throw twice(entries.get(launch.rank()).host().name());
    }
    return new Topology(epoch, members(entries));
  }

  /// Throws `CommException.Setup` if `rank` was told another size.
  static void requireSameSize(int rank, RankEntry entry, int self, RankEntry own) {
    if (entry.size() != own.size()) {
      throw new CommException.Setup(
          "rank "
              + rank
              + " on "
              + entry.host().name()
              + " was told that the job has "
              + entry.size()
              + " ranks, rank "
              + self
              + " that it has "
              + own.size()
              + "; start all ranks of a job with the same size",
          List.of(rank, self),
          null);
    }
  }

  /// Throws `CommException.Setup` if `rank` announced a setting that differs from this rank's.
  static void requireSameSettings(int rank, RankEntry entry, int self, RankEntry own) {
    List<String> both = entry.disagreement(own);
    if (!both.isEmpty()) {
      throw new CommException.Setup(
          "rank %d on %s has the setting %s, rank %d has %s; start all ranks with equal settings"
              .formatted(rank, entry.host().name(), both.getFirst(), self, both.getLast()),
          List.of(rank, self),
          null);
    }
  }

  /// Finds the number of this meeting, because a process may join, leave and join again. Its n-th
  /// meeting is the n-th of all ranks.
  private void enterNextMeeting(RankEntry own) {
    Optional<byte[]> before = store.find(key(launch.rank()));
    while (before.isPresent()) {
      RankEntry there = entry(launch.rank(), before.get());
      if (!there.sameProcess(own)) {
        throw twice(there.host().name());
      }
      meeting++;
      before = store.find(key(launch.rank()));
    }
  }

  private CommException.Setup twice(String host) {
    return new CommException.Setup(
        "another process, on "
            + host
            + ", also joined as rank "
            + launch.rank()
            + " of "
            + launch.size()
            + "; each rank of a job must be started once, and a process that takes the place of a"
            + " lost rank with WEFT_JOIN=true",
        List.of(launch.rank()),
        null);
  }

  private byte[] await(int rank) throws InterruptedException {
    long left = Math.max(0, endNanos - ticker.nanos());
    try {
      return store.get(key(rank), Duration.ofNanos(left));
    } catch (CommException.Setup failed) {
      if (endNanos - ticker.nanos() > ClampedDuration.nanos(LAST_WORDS)) {
        throw failed;
      }
      throw missing(failed);
    }
  }

  private CommException.Setup missing(CommException.Setup cause) {
    var missing = new ArrayList<Integer>();
    for (int rank = 0; rank < launch.size(); rank++) {
      if (store.find(key(rank)).isEmpty()) {
        missing.add(rank);
      }
    }
    if (missing.isEmpty()) {
      return cause;
    }
    return new CommException.Setup(
        (missing.size() == 1 ? "rank " : "ranks ")
            + ProcessSet.ranges(missing)
            + " of "
            + launch.size()
            + " did not join within "
            + ClampedDuration.millis(limit) / 1000.0
            + " s; see their own output, or give more time with WEFT_START_DEADLINE"
            + store.caution(),
        missing,
        cause);
  }

  /// Decodes an entry. Throws `CommException.Setup` if it is malformed.
  static RankEntry entry(int rank, byte[] bytes) {
    try {
      return RankEntry.decode(bytes);
    } catch (IllegalArgumentException malformed) {
      throw new CommException.Setup(
          "the announcement of rank "
              + rank
              + " in the store cannot be read ("
              + malformed.getMessage()
              + "); start all ranks with the same version of Weft",
          List.of(rank),
          malformed);
    }
  }

  private String key(int rank) {
    return meetingKey(epoch, meeting) + "member/" + rank;
  }

  static String meetingKey(long epoch, int meeting) {
    return "epoch/" + epoch + "/meeting/" + meeting + "/";
  }

  static List<Member> members(List<RankEntry> entries) {
    Map<HostIdentity, String> labels = labels(entries);
    var localCount = new HashMap<HostIdentity, Integer>();
    var crossCount = new HashMap<Integer, Integer>();
    var members = new ArrayList<Member>();
    for (int rank = 0; rank < entries.size(); rank++) {
      RankEntry entry = entries.get(rank);
      if (entry.isAbsent()) {
        members.add(Member.absent(rank));
        continue;
      }
      int localRank = localCount.merge(entry.host(), 1, Integer::sum) - 1;
      int crossRank = crossCount.merge(localRank, 1, Integer::sum) - 1;
      String host = labels.getOrDefault(entry.host(), entry.host().name());
      members.add(
          new Member(
              rank,
              localRank,
              crossRank,
              host,
              entry.process(),
              entry.processors(),
              entry.addresses()));
    }
    return members;
  }

  /// Returns the label of each host: its name, followed by its boot id if two hosts share the name.
  private static Map<HostIdentity, String> labels(List<RankEntry> entries) {
    var boots = new HashMap<String, Set<HostIdentity>>();
    for (RankEntry entry : entries) {
      HostIdentity host = entry.host();
      boots.computeIfAbsent(host.name(), name -> new HashSet<>()).add(host);
    }
    var labels = new HashMap<HostIdentity, String>();
    boots.forEach(
        (name, hosts) ->
            hosts.forEach(
                host ->
                    labels.put(host, hosts.size() > 1 ? name + "(" + host.boot() + ")" : name)));
    return labels;
  }
}
