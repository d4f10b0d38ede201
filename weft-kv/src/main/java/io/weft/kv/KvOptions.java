// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import io.weft.kv.function.KvChange;
import io.weft.kv.function.KvFunction;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.IntStream;

/// Who is what in a parameter server; the same on all ranks.
///
/// @param servers how many of the first ranks are servers; 0 = every rank is both server and worker
/// @param application 0 to 15: several parameter servers in one job have different ones
/// @param deadline how long a request may take; empty = the job's `deadline`
/// @param mirrors whether each shard lies on a second server too
/// @param functions that servers run besides those of `KvFunctions`
/// @param changes that servers make besides those of `KvChanges`
/// @param commands what servers answer to texts of workers
public record KvOptions(
    int servers,
    int application,
    Optional<Duration> deadline,
    Mirrors mirrors,
    List<KvFunction<?>> functions,
    List<KvChange> changes,
    KvCommands commands) {

  private static final int MOST_APPLICATIONS = 16;

  /// Of those that the channel keeps for Weft itself, these are the parameter servers'.
  private static final int FIRST_KIND = 16;

  /// Whether a shard lies on one server or two.
  public enum Mirrors {
    /// On one: what it has is lost with it.
    NONE,
    /// On two servers: a push is answered when both have it.
    ONE
  }

  /// Throws `IllegalArgumentException` with what is wrong.
  public KvOptions {
    Objects.requireNonNull(deadline, "deadline");
    Objects.requireNonNull(mirrors, "mirrors");
    Objects.requireNonNull(commands, "commands");
    if (servers < 0 || application < 0 || application >= MOST_APPLICATIONS) {
      throw new IllegalArgumentException(
          "%d servers, application %d; allowed: at least 0, and 0 to %d"
              .formatted(servers, application, MOST_APPLICATIONS - 1));
    }
    functions = List.copyOf(functions);
    changes = List.copyOf(changes);
  }

  /// The first so many ranks are servers, those behind them workers.
  public static KvOptions servers(int count) {
    if (count < 1) {
      throw new IllegalArgumentException(count + " servers; at least 1");
    }
    return new KvOptions(
        count, 0, Optional.empty(), Mirrors.NONE, List.of(), List.of(), KvCommands.NONE);
  }

  /// Every rank is both.
  public static KvOptions everyRank() {
    return new KvOptions(
        0, 0, Optional.empty(), Mirrors.NONE, List.of(), List.of(), KvCommands.NONE);
  }

  /// The same, apart from other applications of the job. A rank has one `KeyValue` for each number:
  /// a second one takes the first one's requests.
  public KvOptions withApplication(int number) {
    return new KvOptions(servers, number, deadline, mirrors, functions, changes, commands);
  }

  /// The same with a limit for each request. Throws `IllegalArgumentException` for none.
  public KvOptions withDeadline(Duration limit) {
    if (!limit.isPositive()) {
      throw new IllegalArgumentException("requests within " + limit + "; give them some time");
    }
    return new KvOptions(
        servers, application, Optional.of(limit), mirrors, functions, changes, commands);
  }

  /// The same with each shard on a second server too. The job must be one that goes on without a
  /// rank that is lost: `on-failure` `shrink`.
  public KvOptions withMirrors() {
    return new KvOptions(servers, application, deadline, Mirrors.ONE, functions, changes, commands);
  }

  /// The same with a function that servers run when a worker calls it.
  public KvOptions withFunction(KvFunction<?> function) {
    List<KvFunction<?>> all = new ArrayList<>(functions);
    all.add(function);
    return new KvOptions(servers, application, deadline, mirrors, all, changes, commands);
  }

  /// The same with a change that servers make when a worker asks for it.
  public KvOptions withChange(KvChange change) {
    List<KvChange> all = new ArrayList<>(changes);
    all.add(change);
    return new KvOptions(servers, application, deadline, mirrors, functions, all, commands);
  }

  /// The same with servers that answer texts of workers (`KeyValueStore.command`).
  public KvOptions withCommands(KvCommands answers) {
    Objects.requireNonNull(answers, "answers");
    return new KvOptions(servers, application, deadline, mirrors, functions, changes, answers);
  }

  /// On how many servers a shard lies. Throws `IllegalArgumentException` where there are no two for
  /// mirrors.
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

  /// Kind of its requests on the channel.
  int kind() {
    return FIRST_KIND + application;
  }

  /// Ranks that are servers, of a job of so many.
  List<Integer> serversOf(int size) {
    return IntStream.range(0, servers == 0 ? size : servers).boxed().toList();
  }

  /// Throws `IllegalArgumentException` if there is no worker.
  static void requireWorkers(int servers, int size) {
    if (servers >= size) {
      throw new IllegalArgumentException(
          "%d of the job's %d ranks are to be servers: none is left to be a worker"
              .formatted(servers, size));
    }
  }

  /// Ranks that are workers, of a job of so many. Throws `IllegalArgumentException` if there is
  /// none.
  List<Integer> workersOf(int size) {
    requireWorkers(servers, size);
    return IntStream.range(servers, size).boxed().toList();
  }
}
