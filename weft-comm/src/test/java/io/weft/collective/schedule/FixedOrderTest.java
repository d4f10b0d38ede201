// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// Checks the algorithms that add each element in one order, of ranks within hosts and then of
/// hosts: the algorithms for few, more and many bytes.
class FixedOrderTest {

  private static final long SEED = 20_261_128;

  /// Returns placements of ranks on hosts: one rank per host, blocks of several lengths,
  /// interleaved, and random.
  static Stream<List<Integer>> placements() {
    Random random = new Random(SEED);
    List<List<Integer>> all = new ArrayList<>();
    for (int n = 1; n <= 64; n++) {
      int size = n;
      all.add(IntStream.range(0, n).boxed().toList());
      for (int block : n <= 24 ? new int[] {2, 3, 4, 8, n} : new int[] {4, 5}) {
        all.add(IntStream.range(0, n).mapToObj(r -> r / block).toList());
      }
      all.add(IntStream.range(0, n).mapToObj(r -> r % Math.ceilDiv(size, 3)).toList());
      int hosts = 1 + random.nextInt(n);
      all.add(IntStream.range(0, n).mapToObj(_ -> random.nextInt(hosts)).toList());
    }
    all.add(blocks(3, 5));
    all.add(blocks(1, 8));
    all.add(blocks(8, 1, 2));
    all.add(blocks(5, 3, 5, 3, 7, 1, 2, 4, 6, 8, 3));
    return all.stream();
  }

  /// Returns hosts of consecutive ranks, with `ranks[host]` ranks each.
  private static List<Integer> blocks(int... ranks) {
    return IntStream.range(0, ranks.length)
        .boxed()
        .flatMap(host -> IntStream.range(0, ranks[host]).mapToObj(_ -> host))
        .toList();
  }

  @Test
  void allAlgorithmsSumEveryElementInOneOrderOnEveryPlacement() {
    placements()
        .forEach(
            hosts -> {
              int n = hosts.size();
              long order = Verifier.orders(RecursiveDoubling.onHosts(hosts), n).getFirst();
              assertThat(Verifier.orders(NestedExchanges.direct(hosts), n))
                  .as("seed %d: ranks on hosts %s", SEED, hosts)
                  .containsOnly(order);
              assertThat(Verifier.orders(NestedExchanges.halving(hosts), n))
                  .as("seed %d: ranks on hosts %s", SEED, hosts)
                  .containsOnly(order);
            });
  }

  @Test
  void hostsOfAPowerOfTwoOfConsecutiveRanksHaveTheOrderOfOneHost() {
    for (int each = 1; each <= 8; each *= 2) {
      for (int hosts = 1; hosts <= 64 / each; hosts++) {
        int ranks = each;
        int n = each * hosts;
        long oneHost = Verifier.orders(RecursiveDoubling.onOneHost(n), n).getFirst();
        List<Integer> hostOf = IntStream.range(0, n).mapToObj(r -> r / ranks).toList();
        assertThat(Verifier.orders(NestedExchanges.direct(hostOf), n))
            .as("%d hosts of %d ranks", hosts, each)
            .containsOnly(oneHost);
      }
    }
  }

  @Test
  void slicesAreAddedInTheOrderOfOneHost() {
    for (int n = 1; n <= 64; n++) {
      long oneHost = Verifier.orders(RecursiveDoubling.onOneHost(n), n).getFirst();
      assertThat(Verifier.orders(new SlicedDoubling(), n)).as("%d ranks", n).containsOnly(oneHost);
    }
  }

  /// Returns placements on up to 16 hosts of up to 8 ranks (equal counts, 3 and 5 in alternation,
  /// and random counts), and on up to 127 hosts of one rank.
  static Stream<List<Integer>> ofManyHosts() {
    Random random = new Random(SEED);
    List<List<Integer>> all = new ArrayList<>();
    for (int hosts = 2; hosts <= 16; hosts++) {
      for (int each = 1; each <= 8; each++) {
        int ranks = each;
        all.add(blocks(IntStream.range(0, hosts).map(_ -> ranks).toArray()));
      }
      all.add(blocks(IntStream.range(0, hosts).map(h -> h % 2 == 0 ? 3 : 5).toArray()));
      for (int i = 0; i < 3; i++) {
        all.add(blocks(IntStream.range(0, hosts).map(_ -> 1 + random.nextInt(8)).toArray()));
      }
    }
    for (int hosts : new int[] {17, 23, 31, 33, 47, 61, 64, 97, 127}) {
      all.add(blocks(IntStream.range(0, hosts).map(_ -> 1).toArray()));
    }
    return all.stream();
  }

  @Test
  void aHostsLinkCarriesAtMostATenthMoreThanTheMinimum() {
    ofManyHosts().forEach(FixedOrderTest::countBytes);
  }

  private static void countBytes(List<Integer> hosts) {
    Algorithm algorithm = NestedExchanges.direct(hosts);
    int n = hosts.size();
    int count = (int) hosts.stream().distinct().count();
    long[] out = new long[count];
    long[] in = new long[count];
    for (int rank = 0; rank < n; rank++) {
      for (List<Step> round : algorithm.schedule(rank, n)) {
        for (Step step : round) {
          if (step instanceof Step.Send && !hosts.get(rank).equals(hosts.get(step.peer()))) {
            out[hosts.get(rank)] += step.chunks();
            in[hosts.get(step.peer())] += step.chunks();
          }
        }
      }
    }
    double least = 2.0 * (count - 1) / count * algorithm.chunks(n);
    for (int host = 0; host < count; host++) {
      assertThat(out[host] / least).as("sent by host %d of %s", host, hosts).isBetween(0.0, 1.1);
      assertThat(in[host] / least).as("received by host %d of %s", host, hosts).isBetween(0.0, 1.1);
    }
    if (count <= 8) {
      assertThat(out).containsOnly(Math.round(least));
      assertThat(in).containsOnly(Math.round(least));
    }
  }

  @Test
  void aRankHasFewPeersAndFewRounds() {
    ofManyHosts().forEach(FixedOrderTest::countRounds);
  }

  private static void countRounds(List<Integer> hosts) {
    int n = hosts.size();
    int count = (int) hosts.stream().distinct().count();
    Algorithm many = NestedExchanges.direct(hosts);
    Algorithm few = RecursiveDoubling.onHosts(hosts);
    for (int rank = 0; rank < n; rank++) {
      int self = rank;
      assertThat(many.schedule(rank, n).size())
          .isLessThanOrEqualTo(2 * (1 + Math.ceilDiv(AdditionOrder.depth(count), 3)));
      assertThat(
              many.schedule(rank, n).stream()
                  .flatMap(List::stream)
                  .filter(step -> step instanceof Step.Send)
                  .map(Step::peer)
                  .filter(peer -> !hosts.get(peer).equals(hosts.get(self)))
                  .distinct()
                  .count())
          .as("peers of rank %d of %s", rank, hosts)
          .isLessThanOrEqualTo(27);
      assertThat(few.schedule(rank, n).size()).isLessThanOrEqualTo(4 + 3 + 4 + 3 + 7);
    }
  }
}
