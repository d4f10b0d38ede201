// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import io.weft.Weft;
import io.weft.kv.function.KvChange;
import io.weft.kv.function.KvFunction;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.IntStream;

/// The roles of the ranks in a parameter server and its options. They must be equal on all ranks.
///
/// @param servers the number of servers, which are the first ranks; 0 = every rank is both server
///   and worker
/// @param application the number of the parameter server within the job, 0 to 15
/// @param deadline how long a request may take; empty = the job's `deadline`
/// @param mirrors the number of mirrors of each shard
/// @param functions custom functions of the servers, in addition to `KvFunctions`
/// @param changes custom changes of the servers, in addition to `KvChanges`
/// @param commands the servers' handler of commands
/// @param levels the number of levels at which pushes are summed
public record KvOptions(
    int servers,
    int application,
    Optional<Duration> deadline,
    Mirrors mirrors,
    List<KvFunction<?>> functions,
    List<KvChange> changes,
    KvCommands commands,
    Levels levels) {

  private static final int MOST_APPLICATIONS = 16;

  /// The first of the channel's reserved request kinds that belongs to parameter servers.
  private static final int FIRST_KIND = 16;

  /// The number of mirrors of a shard.
  public enum Mirrors {
    /// No mirror. The loss of a server loses its shards.
    NONE,
    /// One mirror on a second server. A push is answered when both servers have it.
    ONE
  }

  /// The number of levels at which pushes are summed.
  public enum Levels {
    /// Each worker pushes to the servers.
    ONE,
    /// The workers of a host sum their pushes; the lowest pushes the sum, pulls the values and
    /// broadcasts them. A host counts as one worker for the consistency. Only for synchronous dense
    /// tensors, without checkpoints; see `KVStore` for others.
    TWO
  }

  /// Throws `IllegalArgumentException` with the invalid value.
  public KvOptions {
    Objects.requireNonNull(deadline, "deadline");
    Objects.requireNonNull(mirrors, "mirrors");
    Objects.requireNonNull(commands, "commands");
    Objects.requireNonNull(levels, "levels");
    if (levels == Levels.TWO && servers == 0) {
      throw new IllegalArgumentException(
          "two levels with every rank a server; use KvOptions.servers(count)");
    }
    if (servers < 0 || application < 0 || application >= MOST_APPLICATIONS) {
      throw new IllegalArgumentException(
          "%d servers, application %d; allowed: at least 0, and 0 to %d"
              .formatted(servers, application, MOST_APPLICATIONS - 1));
    }
    functions = List.copyOf(functions);
    changes = List.copyOf(changes);
  }

  /// Returns options in which the first `count` ranks are servers and the other ranks are workers.
  public static KvOptions servers(int count) {
    if (count < 1) {
      throw new IllegalArgumentException(count + " servers; at least 1");
    }
    return new KvOptions(
        count,
        0,
        Optional.empty(),
        Mirrors.NONE,
        List.of(),
        List.of(),
        KvCommands.NONE,
        Levels.ONE);
  }

  /// Returns options in which every rank is both server and worker.
  public static KvOptions everyRank() {
    return new KvOptions(
        0, 0, Optional.empty(), Mirrors.NONE, List.of(), List.of(), KvCommands.NONE, Levels.ONE);
  }

  /// Returns the limit for each request in this job.
  Duration limit(Weft weft) {
    return deadline.orElse(weft.config().deadline());
  }

  /// Returns a copy with another application number, which separates several parameter servers of
  /// one job. A rank may have only one `KvNode` for each number, because a second one would take
  /// over the requests of the first.
  public KvOptions withApplication(int number) {
    return new KvOptions(servers, number, deadline, mirrors, functions, changes, commands, levels);
  }

  /// Returns a copy with a limit for each request. Throws `IllegalArgumentException` if it is not
  /// positive.
  public KvOptions withDeadline(Duration limit) {
    if (!limit.isPositive()) {
      throw new IllegalArgumentException("requests within " + limit + "; give them some time");
    }
    return new KvOptions(
        servers, application, Optional.of(limit), mirrors, functions, changes, commands, levels);
  }

  /// Returns a copy with each shard mirrored on a second server. Mirrors help only if the job
  /// continues after the loss of a rank: set `on-failure` to `shrink`.
  public KvOptions withMirrors() {
    return new KvOptions(
        servers, application, deadline, Mirrors.ONE, functions, changes, commands, levels);
  }

  /// Returns a copy with an additional function that servers run when a worker calls it.
  public KvOptions withFunction(KvFunction<?> function) {
    List<KvFunction<?>> all = new ArrayList<>(functions);
    all.add(function);
    return new KvOptions(servers, application, deadline, mirrors, all, changes, commands, levels);
  }

  /// Returns a copy with an additional change that servers make when a worker requests it.
  public KvOptions withChange(KvChange change) {
    List<KvChange> all = new ArrayList<>(changes);
    all.add(change);
    return new KvOptions(servers, application, deadline, mirrors, functions, all, commands, levels);
  }

  /// Returns a copy with a handler of commands (`KvWorker.command`).
  public KvOptions withCommands(KvCommands answers) {
    Objects.requireNonNull(answers, "answers");
    return new KvOptions(
        servers, application, deadline, mirrors, functions, changes, answers, levels);
  }

  /// Returns a copy with this number of levels at which pushes are summed.
  public KvOptions with(Levels number) {
    return new KvOptions(
        servers, application, deadline, mirrors, functions, changes, commands, number);
  }

  /// Returns the number of servers that hold each shard. Throws `IllegalArgumentException` if
  /// mirrors are requested with fewer than two servers.
  int copies(int of) {
    if (mirrors == Mirrors.NONE) {
      return 1;
    }
    if (of < 2) {
      throw new IllegalArgumentException(
          "mirrors of " + of + " server; a mirror lies on another server: have 2 or more");
    }
    return 2;
  }

  /// Returns the kind of this application's requests on the channel.
  int kind() {
    return FIRST_KIND + application;
  }

  /// Returns the server ranks of a job of `size` ranks.
  List<Integer> serversOf(int size) {
    return IntStream.range(0, servers == 0 ? size : servers).boxed().toList();
  }

  /// Throws `IllegalArgumentException` if all ranks are servers.
  static void requireWorkers(int servers, int size) {
    if (servers >= size) {
      throw new IllegalArgumentException(
          "%d of the job's %d ranks are to be servers: none is left to be a worker"
              .formatted(servers, size));
    }
  }

  /// Returns the worker ranks of a job of `size` ranks. Throws `IllegalArgumentException` if there
  /// is none.
  List<Integer> workersOf(int size) {
    requireWorkers(servers, size);
    return IntStream.range(servers, size).boxed().toList();
  }
}
