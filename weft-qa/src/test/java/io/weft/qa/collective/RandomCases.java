// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.collective;

import static org.assertj.core.api.Assumptions.assumeThat;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.testkit.job.LocalJob;
import io.weft.transport.spi.Availability;
import io.weft.transport.spi.TransportProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

/// Random collectives, identical on all ranks, in jobs whose ranks may share memory.
final class RandomCases {

  /// `-Dweft.test.seed=N` replays a run. `-Dweft.test.collectives=N` sets the number of cases per
  /// job.
  private static final long SEED = Long.getLong("weft.test.seed", System.nanoTime());

  private static final int CASES =
      Integer.getInteger("weft.test.collectives", Boolean.getBoolean("weft.test.long") ? 60 : 30);

  private RandomCases() {}

  /// Creates the case with this number for a job of `size` ranks.
  interface Dice<C> {
    C roll(int number, int size, SplittableRandom random);
  }

  /// Runs a case on one rank and returns its result.
  interface Run<C> {
    byte[] on(Weft weft, C one) throws Exception;
  }

  /// The results of all ranks for a case.
  record Result<C>(C one, List<byte[]> byRank) {}

  /// Runs cases in turn over a transport, on a job whose `blind` ranks cannot map the memory of
  /// other ranks. Skips the test if the transport is unavailable.
  static <C> List<Result<C>> results(
      String scheme, int size, Set<Integer> blind, Dice<C> dice, Run<C> run) {
    TransportProvider provider = present(scheme);
    System.getLogger("weft.test")
        .log(System.Logger.Level.INFO, "replay with -Dweft.test.seed={0}", Long.toString(SEED));
    SplittableRandom random = new SplittableRandom(SEED + size);
    List<C> cases = new ArrayList<>();
    for (int i = 0; i < CASES; i++) {
      cases.add(dice.roll(i, size, random));
    }
    WeftConfig config = WeftConfig.builder().build();
    try (LocalJob job = LocalJob.start(size, config, new BlindProvider(provider, blind))) {
      List<List<byte[]>> results =
          job.run(
              weft -> {
                List<byte[]> mine = new ArrayList<>();
                for (C one : cases) {
                  mine.add(run.on(weft, one));
                }
                return mine;
              });
      List<Result<C>> byCase = new ArrayList<>();
      for (int i = 0; i < cases.size(); i++) {
        int number = i;
        byCase.add(
            new Result<>(
                cases.get(i), results.stream().map(ofRank -> ofRank.get(number)).toList()));
      }
      return byCase;
    }
  }

  /// Starts a job over this transport alone. Skips the test if the transport is unavailable.
  static LocalJob job(String scheme, int size) {
    TransportProvider unused = present(scheme);
    return LocalJob.start(size, WeftConfig.builder().transport(scheme).build());
  }

  private static TransportProvider present(String scheme) {
    TransportProvider provider = MortalJob.provider(scheme);
    assumeThat(provider.probe()).isInstanceOf(Availability.Available.class);
    return provider;
  }
}
