// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.agent.Ticker;
import io.weft.cluster.watch.ProcessIdentity;
import io.weft.comm.CommException;
import io.weft.transport.Address;
import io.weft.transport.limit.ClampedDuration;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The claim of a process on a rank of a running job, taken in the job's store
/// (docs/protocol/store.md): the lowest number that no rank has or had. One process joins at a
/// time; `close` admits the next one. User thread.
public final class JoinClaim implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(JoinClaim.class);

  /// Value of the lock while it is free.
  private static final byte[] FREE = {};

  private static final Duration LOOK = Duration.ofSeconds(1);
  private static final Duration PAUSE = Duration.ofMillis(20);
  private static final int LINES = 4;

  /// Number of start deadlines for which a process waits while others join.
  private static final int MOST_DEADLINES = 4;

  private final Ticker ticker;
  private final Store store;
  private final LaunchEnvironment launch;
  private final JobProcess self;
  private final Duration limit;
  private final String prefix;
  private final byte[] own;
  private final List<RankEntry> before = new ArrayList<>();

  private JoinClaim(
      Ticker ticker,
      Store store,
      LaunchEnvironment launch,
      String prefix,
      JobProcess self,
      Duration limit) {
    this.ticker = ticker;
    this.store = store;
    this.launch = launch;
    this.prefix = prefix;
    this.self = self;
    this.limit = limit;
    String holder =
        String.join("\n", self.identity(), self.host(), self.boot(), UUID.randomUUID().toString());
    this.own = holder.getBytes(StandardCharsets.UTF_8);
  }

  /// Waits until the job has begun, at most the limit, then for other joining processes, at most
  /// four times the limit. Throws `CommException.Setup` if the job does not run or others take too
  /// long.
  ///
  /// @param self the calling process
  public static JoinClaim take(
      Ticker ticker,
      Store store,
      LaunchEnvironment launch,
      long epoch,
      JobProcess self,
      Duration limit)
      throws InterruptedException {
    int meeting = 0;
    while (store.find(Bootstrap.meetingKey(epoch, meeting + 1) + "member/0").isPresent()) {
      meeting++;
    }
    String prefix = Bootstrap.meetingKey(epoch, meeting);
    var claim = new JoinClaim(ticker, store, launch, prefix, self, limit);
    claim.awaitJob();
    claim.lock();
    try {
      claim.number();
      return claim;
    } catch (RuntimeException | Error refused) {
      claim.close();
      throw refused;
    }
  }

  private String lockKey() {
    return prefix + "join/lock";
  }

  private String member(int rank) {
    return prefix + "member/" + rank;
  }

  private void awaitJob() throws InterruptedException {
    long end = ticker.nanos() + ClampedDuration.nanos(limit);
    for (int rank = 0; rank < launch.size(); rank++) {
      Optional<byte[]> there = store.find(member(rank));
      while (there.isEmpty()) {
        long left = end - ticker.nanos();
        if (left <= 0) {
          throw notRunning();
        }
        Duration look = Duration.ofNanos(Math.min(left, ClampedDuration.nanos(LOOK)));
        there = store.awaitChange(member(rank), FREE, look);
      }
    }
  }

  private CommException.Setup notRunning() {
    var missing = new ArrayList<Integer>();
    for (int rank = 0; rank < launch.size(); rank++) {
      if (store.find(member(rank)).isEmpty()) {
        missing.add(rank);
      }
    }
    return new CommException.Setup(
        "this process should join a job of "
            + launch.size()
            + " running ranks (setting join), but "
            + (missing.size() == 1 ? "rank " : "ranks ")
            + ProcessSet.ranges(missing)
            + " did not join within "
            + ClampedDuration.millis(limit) / 1000.0
            + " s; start the job first, and give this process the same WEFT_SIZE, WEFT_JOB and"
            + " WEFT_STORE"
            + store.caution(),
        missing,
        null);
  }

  // --- the lock

  private void lock() throws InterruptedException {
    long start = ticker.nanos();
    long since = start;
    Optional<byte[]> known = store.find(lockKey());
    while (!enter(known, ticker.nanos() - since > ClampedDuration.nanos(limit))) {
      if (ticker.nanos() - start > MOST_DEADLINES * ClampedDuration.nanos(limit)) {
        throw new CommException.Setup(
            "this process could not join the job, as others were joining for "
                + MOST_DEADLINES * ClampedDuration.millis(limit) / 1000.0
                + " s; start it again",
            null);
      }
      byte[] seen = known.orElse(FREE);
      Optional<byte[]> next = store.awaitChange(lockKey(), seen, isFree(known) ? PAUSE : LOOK);
      if (next.isPresent()) {
        known = next;
        since = ticker.nanos();
      }
    }
  }

  private static boolean isFree(Optional<byte[]> holder) {
    return holder.isEmpty() || holder.get().length == 0;
  }

  /// Takes the lock if it is free, or if its holder has ended or is overdue.
  private boolean enter(Optional<byte[]> holder, boolean overdue) {
    if (!isFree(holder) && !overdue && !hasEnded(holder.get())) {
      return false;
    }
    try {
      return holder.isEmpty()
          ? store.putIfAbsent(lockKey(), own)
          : store.compareAndSet(lockKey(), holder.get(), own);
    } catch (CommException.Setup unknown) {
      // The connection may have broken after the request took effect.
      return store.find(lockKey()).filter(value -> Arrays.equals(value, own)).isPresent();
    }
  }

  /// Returns whether the process that holds the lock has ended, as far as this host can tell.
  private boolean hasEnded(byte[] holder) {
    String[] lines = new String(holder, StandardCharsets.UTF_8).split("\n", -1);
    return lines.length == LINES && hasEnded(lines[0], new HostIdentity(lines[1], lines[2]));
  }

  private boolean hasEnded(String identity, HostIdentity host) {
    if (!host.equals(new HostIdentity(self.host(), self.boot()))) {
      return false;
    }
    ProcessIdentity process = ProcessIdentity.parse(identity);
    return process != null && process.hasEnded();
  }

  // --- the number

  private void number() {
    for (int rank = 0; rank < JoinFrame.MOST_RANKS; rank++) {
      Optional<byte[]> there = store.find(member(rank));
      if (there.isEmpty()) {
        store.put(member(rank), RankEntry.absent().encode());
        return;
      }
      before.add(Bootstrap.entry(rank, there.get()));
    }
    throw new CommException.Setup(
        "the job has had " + JoinFrame.MOST_RANKS + " ranks, and can have no more", null);
  }

  /// World rank of this process: the one after those that began the job or joined it.
  public int rank() {
    return before.size();
  }

  /// Returns the present and past members of the job, with this process as the last one. A rank
  /// that took a number but did not join has no addresses; neither has a rank whose process on this
  /// host has ended. Throws `CommException.Setup` if this process was started with another size or
  /// other settings.
  ///
  /// @param mine the listening addresses of its transports
  /// @param settings the settings that must be equal on all ranks, as `NAME=VALUE`
  public Topology members(List<Address> mine, List<String> settings) {
    RankEntry entry = RankEntry.of(self, launch.size(), mine, settings);
    for (int rank = 0; rank < before.size(); rank++) {
      RankEntry its = before.get(rank);
      if (!its.isAbsent()) {
        Bootstrap.requireSameSize(rank, its, rank(), entry);
        Bootstrap.requireSameSettings(rank, its, rank(), entry);
      }
    }
    var all = new ArrayList<RankEntry>();
    for (RankEntry its : before) {
      // There may not be a remaining rank that could report its end.
      all.add(hasEnded(its.process(), its.host()) ? its.withoutAddresses() : its);
    }
    all.add(entry);
    Topology topology = new Topology(0, Bootstrap.members(all));
    if (!JoinFrame.fits(topology.members().getLast())) {
      throw new CommException.Setup(
          "this process's addresses are too long for the job: " + mine, null);
    }
    return topology;
  }

  /// Announces this process, which is connected with all remaining ranks, to ranks that join later.
  public void joined(List<Address> mine, List<String> settings) {
    store.put(member(rank()), RankEntry.of(self, launch.size(), mine, settings).encode());
  }

  /// Admits the next process.
  @Override
  public void close() {
    try {
      boolean unused = store.compareAndSet(lockKey(), own, FREE);
    } catch (CommException.Setup outOfReach) {
      LOG.debug("the next process that joins waits until the start deadline", outOfReach);
    }
  }
}
