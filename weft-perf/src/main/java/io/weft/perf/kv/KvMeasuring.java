// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.kv;

import io.weft.cluster.Connections;
import io.weft.cluster.JobConfig;
import io.weft.cluster.SecureMode;
import io.weft.perf.kv.KvCase.Clients;
import io.weft.perf.process.LocalRanks;
import io.weft.perf.report.BenchmarkHost;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The measurement of cases.
///
/// @param secure the encryption of connections
/// @param peers the systems to compare with
/// @param rounds number of rounds in which the contestants take turns
/// @param limit time limit of a contestant's round
/// @param progress receives a description of the current part
record KvMeasuring(
    SecureMode secure, List<KvPeer> peers, int rounds, Duration limit, Consumer<String> progress) {

  private static final long OVERHEAD_BYTES = 1L << 30;

  /// The memory of a worker or server in multiples of a request's values.
  private static final long REQUESTS_HELD = 16;

  KvMeasuring {
    peers = List.copyOf(peers);
  }

  /// Returns the figures of Weft, of the peers, of a copy in memory, and of a plain socket.
  List<KvFigure> measure(KvCase one, BenchmarkHost host) throws InterruptedException {
    peers.forEach(KvPeer::prepare);
    Map<String, List<KvRun>> runs = new LinkedHashMap<>();
    for (int round = 1; round <= rounds; round++) {
      progress.accept(one.text() + (rounds > 1 ? ", round %d of %d".formatted(round, rounds) : ""));
      runs.computeIfAbsent("weft", it -> new ArrayList<>()).add(weft(one));
      for (KvPeer peer : peers) {
        runs.computeIfAbsent(peer.word(), it -> new ArrayList<>()).add(peer.run(one.plan(), limit));
      }
    }
    List<KvFigure> figures = new ArrayList<>();
    runs.forEach(
        (name, all) -> {
          KvCase its = name.equals("weft") ? one : new KvCase(one.plan(), "tcp", Clients.PROCESSES);
          boolean compares =
              peers.stream().allMatch(it -> !it.word().equals(name) || it.compares());
          @Nullable Boolean right = compares ? all.stream().allMatch(KvRun::checked) : null;
          figures.add(KvFigure.of(its, name, all, right, host));
        });
    List<KvRun> own = Objects.requireNonNull(runs.get("weft"));
    beside(figures, one, "memcpy", own.stream().mapToLong(KvRun::copy).toArray(), host);
    beside(figures, one, "loopback", own.stream().mapToLong(KvRun::loopback).toArray(), host);
    return figures;
  }

  private static void beside(
      List<KvFigure> figures, KvCase one, String what, long[] nanos, BenchmarkHost host) {
    long total = Arrays.stream(nanos).sum();
    if (total > 0) {
      var single = new KvPlan(one.plan().op(), one.plan().subject(), 1, 1, 1, nanos.length);
      figures.add(
          KvFigure.of(
              new KvCase(single, one.transport(), Clients.PROCESSES),
              what,
              List.of(KvRun.of(nanos, total, true)),
              null,
              host));
    }
  }

  private KvRun weft(KvCase one) throws InterruptedException {
    KvPlan plan = one.plan();
    LocalRanks ranks =
        switch (one.clients()) {
          case PROCESSES ->
              new LocalRanks(
                  KvRank.class,
                  plan.workers() + plan.servers(),
                  OVERHEAD_BYTES + REQUESTS_HELD * plan.bytes());
          case THREADS ->
              new LocalRanks(
                      KvThreads.class,
                      plan.servers() + 1,
                      OVERHEAD_BYTES
                          + (REQUESTS_HELD + plan.window()) * plan.workers() * plan.bytes())
                  .with(Map.of(JobConfig.CONNECTIONS.variable(), Connections.USED.toString()));
        };
    return KvRun.parse(ranks.patient().run(one.transport(), secure, plan.words(), limit));
  }
}
