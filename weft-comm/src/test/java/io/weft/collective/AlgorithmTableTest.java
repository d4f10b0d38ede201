// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.weft.CommException;
import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.collective.choice.AlgorithmTable;
import io.weft.collective.choice.Rule;
import io.weft.collective.plan.CollectiveKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class AlgorithmTableTest {

  private static final AlgorithmTable SHIPPED = Algorithms.table(Optional.empty());

  @TempDir private Path directory;

  private static List<Integer> hosts(int ranks, int number) {
    return IntStream.range(0, ranks).mapToObj(r -> r * number / ranks).toList();
  }

  private AlgorithmTable own(String text) throws IOException {
    return Algorithms.table(Optional.of(file(text)));
  }

  private Path file(String text) throws IOException {
    return Files.writeString(directory.resolve("own.txt"), text);
  }

  @Test
  void thereIsAlwaysAnAnswerWithAReason() {
    for (String collective :
        Stream.of(CollectiveKind.values()).map(CollectiveKind::words).toList()) {
      for (int ranks : new int[] {1, 2, 3, 8, 9, 64, 1024}) {
        for (int hosts : new int[] {1, 2, 3, 9}) {
          for (long bytes : new long[] {0, 1, 8192, 8193, 1 << 20, 1L << 28, Long.MAX_VALUE}) {
            for (boolean shares : new boolean[] {false, hosts == 1}) {
              Rule rule =
                  Algorithms.chosen(SHIPPED, collective, bytes, hosts(ranks, hosts), shares);
              assertThat(rule.reason()).as("%s of %d", collective, bytes).isNotEmpty();
              assertThat(rule.origin()).isEmpty();
            }
          }
        }
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "2, 1, 8192, true, recursive-doubling",
    "2, 1, 8193, true, shared",
    "2, 1, 8193, false, recursive-doubling",
    "2, 1, 131072, false, recursive-doubling",
    "2, 1, 131073, false, direct",
    "2, 1, 16777216, false, direct",
    "2, 1, 16777217, false, ring",
    "2, 2, 16777216, false, recursive-doubling",
    "2, 2, 16777217, false, ring",
    "1, 1, 8193, false, direct",
    "8, 1, 524288, false, direct",
    "8, 1, 524289, false, ring",
    "9, 1, 524288, false, halving-doubling",
    "9, 1, 524289, false, ring",
    "32, 1, 1048575, false, halving-doubling", // 32 chunks of less than 32 KiB
    "32, 1, 1048576, false, ring",
    "4, 2, 8192, false, recursive-doubling",
    "4, 2, 262147, false, hierarchical-halving", // 4 chunks of 64 KiB, and 3 bytes
    "4, 2, 262148, false, hierarchical-ring",
    "6, 3, 9000, false, hierarchical-ring", // three hosts
    "18, 9, 9000, false, hierarchical-halving", // more than eight
    "2, 2, 1048576, false, recursive-doubling", // one rank a host
  })
  void boundsAreWhereTheTableSays(
      int ranks, int hosts, long bytes, boolean shares, String algorithm) {
    assertThat(Algorithms.chosen(SHIPPED, "allreduce", bytes, hosts(ranks, hosts), shares))
        .extracting(Rule::algorithm)
        .isEqualTo(algorithm);
  }

  @ParameterizedTest
  @CsvSource({
    "reducescatter, 8192, direct, 8193, shared",
    "broadcast, 8192, binomial-tree, 8193, shared",
    "allgather, 0, shared, 1048576, shared",
    "alltoall, 0, shared, 1048576, shared",
    "barrier, 0, recursive-doubling, 0, recursive-doubling",
  })
  void ranksThatShareMemoryUseIt(
      String collective, long shortBytes, String forShort, long longBytes, String forLong) {
    List<Integer> here = hosts(2, 1);
    assertThat(Algorithms.chosen(SHIPPED, collective, shortBytes, here, true).algorithm())
        .isEqualTo(forShort);
    assertThat(Algorithms.chosen(SHIPPED, collective, longBytes, here, true).algorithm())
        .isEqualTo(forLong);
  }

  @Test
  void linesOfAFileComeBeforeTheShippedOnes() throws IOException {
    AlgorithmTable table =
        own(
            """
            # mine
            allreduce | ranks=2 bytes>=1K bytes<64K | direct | measured here

            """);
    Rule rule = Algorithms.chosen(table, "allreduce", 1024, hosts(2, 1), false);
    assertThat(rule.algorithm()).isEqualTo("direct");
    assertThat(rule.reason())
        .isEqualTo(
            "ranks=2 bytes>=1K bytes<64K: measured here (%s, line 2)"
                .formatted(directory.resolve("own.txt")));
    for (long bytes : new long[] {1023, 64 << 10}) {
      assertThat(Algorithms.chosen(table, "allreduce", bytes, hosts(2, 1), false))
          .isEqualTo(Algorithms.chosen(SHIPPED, "allreduce", bytes, hosts(2, 1), false));
    }
    assertThat(Algorithms.chosen(table, "allreduce", 1024, hosts(3, 1), false).origin()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '@',
      quoteCharacter = '"',
      textBlock =
          """
          allreduce | | ring @ is not COLLECTIVE | CONDITIONS | ALGORITHM | WHY
          scan | | ring | why @ no collective 'scan'; allowed: allgather, allreduce,
          allreduce | | rings | why @ no algorithm 'rings' for allreduce; allowed: ring,
          barrier | | ring | why @ no algorithm 'ring' for barrier; allowed: recursive-doubling
          barrier | shared-memory | shared | why @ no algorithm 'shared' for barrier
          allreduce | bytes<=8X | ring | why @ no condition 'bytes<=8X'; allowed: bytes or chunk with
          allreduce | bytes=8K | ring | why @ no condition 'bytes=8K'
          allreduce | ranks<=8K | ring | why @ no condition 'ranks<=8K'
          allreduce | bytes<=9999999G | ring | why @ 'bytes<=9999999G' is beyond 16384G
          allreduce | ranks=2 | ring | @ the reason is missing
          allreduce | bytes>8K | shared | why @ needs the condition shared-memory
          allgather | bytes<=8K | direct | why @ allgather cannot be chosen by bytes or chunk
          """)
  void whatIsNoRuleIsRefusedWithItsLine(String line, String message) throws IOException {
    Path file = file("\n" + line + "\n");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Algorithms.table(Optional.of(file)))
        .withMessageStartingWith(file + ", line 2: ")
        .withMessageContaining(message);
  }

  @Test
  void aFileThatCannotBeReadEndsTheStartOfARank() throws IOException {
    Path missing = directory.resolve("none.txt");
    assertThatExceptionOfType(CommException.Setup.class)
        .isThrownBy(() -> Weft.init(WeftConfig.builder().algorithms(missing).build()).close())
        .withMessageContaining("option algorithms: cannot read the table of algorithms " + missing);
    Path large = file("#".repeat(70_000));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Algorithms.table(Optional.of(large)))
        .withMessageContaining("longer than 65536 bytes");
  }

  @Test
  void anUnknownCollectiveIsRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Algorithms.chosen(SHIPPED, "scan", 4, hosts(2, 1), false))
        .withMessageContaining("scan");
  }
}
