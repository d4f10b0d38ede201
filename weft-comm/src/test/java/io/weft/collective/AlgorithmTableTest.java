// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.collective.choice.AlgorithmTable;
import io.weft.collective.choice.Choice;
import io.weft.collective.choice.FusionRules;
import io.weft.collective.choice.RankLayout;
import io.weft.collective.choice.Segments;
import io.weft.collective.plan.CollectiveKind;
import io.weft.comm.CommException;
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

  private static Choice chosen(
      AlgorithmTable table, String collective, long bytes, List<Integer> hosts, boolean shares) {
    return Algorithms.chosen(table, collective, bytes, RankLayout.of(hosts, shares, shares));
  }

  private AlgorithmTable own(String text) throws IOException {
    return Algorithms.table(Optional.of(file(text)));
  }

  private Path file(String text) throws IOException {
    return Files.writeString(directory.resolve("own.txt"), text);
  }

  @Test
  void everyCaseHasAChoiceWithAReason() {
    for (String collective :
        Stream.of(CollectiveKind.values()).map(CollectiveKind::words).toList()) {
      for (int ranks : new int[] {1, 2, 3, 8, 9, 64, 1024}) {
        for (int hosts : new int[] {1, 2, 3, 9}) {
          for (long bytes : new long[] {0, 1, 8192, 8193, 1 << 20, 1L << 28, Long.MAX_VALUE}) {
            for (boolean shares : new boolean[] {false, hosts == 1}) {
              Choice choice = chosen(SHIPPED, collective, bytes, hosts(ranks, hosts), shares);
              assertThat(choice.reason()).as("%s of %d", collective, bytes).isNotEmpty();
              assertThat(choice.rule()).startsWith("algorithms.txt, line ");
              assertThat(choice.segments().shipped()).isTrue();
            }
          }
        }
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "2, 1, 0, true, mailbox recursive-doubling",
    "2, 1, 432, true, mailbox recursive-doubling",
    "2, 1, 433, true, mapped direct",
    "16, 1, 432, true, mailbox recursive-doubling",
    "17, 1, 432, true, mapped direct",
    "2, 1, 8193, false, recursive-doubling",
    "2, 1, 131072, false, recursive-doubling",
    "2, 1, 131073, false, nested-direct",
    "2, 1, 16777216, false, nested-direct",
    "2, 1, 16777217, false, ring",
    "2, 2, 16777216, false, recursive-doubling",
    "2, 2, 16777217, false, ring",
    "1, 1, 8193, false, nested-direct",
    "8, 1, 524288, false, nested-direct",
    "8, 1, 524289, false, ring",
    "9, 1, 524288, false, nested-halving",
    "9, 1, 524289, false, ring",
    "32, 1, 1048575, false, nested-halving", // 32 chunks of less than 32 KiB
    "32, 1, 1048576, false, ring",
    "4, 2, 8192, false, recursive-doubling",
    "4, 2, 262147, false, nested-halving", // 4 chunks of 64 KiB, and 3 bytes
    "4, 2, 262148, false, hierarchical-ring",
    "6, 3, 9000, false, nested-halving",
    "18, 9, 9000, false, nested-halving",
    "2, 2, 1048576, false, recursive-doubling", // one rank per host
  })
  void theShippedTableChoosesByItsBounds(
      int ranks, int hosts, long bytes, boolean shares, String algorithm) {
    Choice choice = chosen(SHIPPED, "allreduce", bytes, hosts(ranks, hosts), shares);
    assertThat(choice.way().words() + " " + choice.algorithm())
        .isEqualTo(shares ? algorithm : "wire " + algorithm);
  }

  @ParameterizedTest
  @CsvSource({
    "reducescatter, 8192, wire direct, 8193, mapped direct",
    "broadcast, 8192, wire binomial-tree, 8193, mapped direct",
    "allgather, 0, mapped direct, 1048576, mapped direct",
    "alltoall, 0, mapped direct, 1048576, mapped direct",
    "barrier, 1, mailbox recursive-doubling, 1, mailbox recursive-doubling",
  })
  void ranksThatShareMemoryUseIt(
      String collective, long shortBytes, String forShort, long longBytes, String forLong) {
    List<Integer> here = hosts(2, 1);
    assertThat(words(chosen(SHIPPED, collective, shortBytes, here, true))).isEqualTo(forShort);
    assertThat(words(chosen(SHIPPED, collective, longBytes, here, true))).isEqualTo(forLong);
  }

  private static String words(Choice choice) {
    return choice.way().words() + " " + choice.algorithm();
  }

  @Test
  void segmentsDependOnTheWay() throws IOException {
    List<Integer> here = hosts(2, 1);
    RankLayout kernel = RankLayout.of(here, false, false);
    assertThat(Algorithms.chosen(SHIPPED, "allreduce", 1 << 20, kernel).segments())
        .isEqualTo(new Segments(128 << 10, 4, true));
    assertThat(chosen(SHIPPED, "allreduce", 1 << 20, hosts(2, 2), false).segments())
        .isEqualTo(new Segments(128 << 10, 8, true));
    AlgorithmTable table = own("wire | bytes>1M kernel | 1M x 2 | mine\nmapped | | 64K x 2 | mine");
    assertThat(Algorithms.chosen(table, "allreduce", 1 << 20, kernel).segments().shipped())
        .isTrue();
    Choice moved = Algorithms.chosen(table, "allreduce", (1 << 20) + 1, kernel);
    assertThat(moved.segments()).isEqualTo(new Segments(1 << 20, 2, false));
    assertThat(moved.reason()).endsWith("own.txt, line 1: wire | bytes>1M kernel | 1M x 2: mine");
    assertThat(Algorithms.chosen(table, "allgather", 1 << 30, kernel).segments().bytes())
        .as("ranks may have different lengths")
        .isEqualTo(128 << 10);
    RankLayout sharing = RankLayout.of(here, true, true);
    assertThat(Algorithms.chosen(SHIPPED, "allreduce", 1 << 20, sharing).segments())
        .isEqualTo(new Segments(1 << 20, 1, true));
    assertThat(Algorithms.chosen(SHIPPED, "allreduce", 8 << 20, sharing.bounced()).segments())
        .isEqualTo(new Segments(512 << 10, 4, true));
    assertThat(chosen(table, "allreduce", 1 << 20, here, true).segments().words())
        .isEqualTo(" in segments of 65536 bytes, 2 in flight");
  }

  @Test
  void linesOfAFilePrecedeTheShippedOnes() throws IOException {
    AlgorithmTable table =
        own(
            """
            # mine
            allreduce | ranks=2 bytes>=1K bytes<64K | wire nested-direct | measured here

            """);
    Choice choice = chosen(table, "allreduce", 1024, hosts(2, 1), false);
    assertThat(choice.algorithm()).isEqualTo("nested-direct");
    assertThat(choice.reason()).startsWith("measured here; algorithms.txt, line ");
    assertThat(choice.rule())
        .isEqualTo(
            "%s, line 2: allreduce | ranks=2 bytes>=1K bytes<64K | wire nested-direct"
                .formatted(directory.resolve("own.txt")));
    for (long bytes : new long[] {1023, 64 << 10}) {
      assertThat(chosen(table, "allreduce", bytes, hosts(2, 1), false))
          .isEqualTo(chosen(SHIPPED, "allreduce", bytes, hosts(2, 1), false));
    }
    assertThat(chosen(table, "allreduce", 1024, hosts(3, 1), false).rule())
        .startsWith("algorithms.txt");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '@',
      quoteCharacter = '"',
      textBlock =
          """
          allreduce | | wire ring @ is neither COLLECTIVE | CONDITIONS | WAY ALGORITHM | WHY nor
          scan | | wire ring | why @ no collective 'scan'; allowed: allgather, allreduce,
          allreduce | | wire rings | why @ no algorithm 'wire rings' for allreduce; allowed: wire ring,
          allreduce | | ring | why @ no algorithm 'ring' for allreduce; allowed: wire ring,
          barrier | | wire ring | why @ no algorithm 'wire ring' for barrier; allowed: wire recursive-doubling
          barrier | shared-memory | mapped direct | why @ no algorithm 'mapped direct' for barrier
          allreduce | bytes<=8X | wire ring | why @ no condition 'bytes<=8X'; allowed: bytes or chunk with
          allreduce | bytes=8K | wire ring | why @ no condition 'bytes=8K'
          allreduce | ranks<=8K | wire ring | why @ no condition 'ranks<=8K'
          allreduce | bytes<=9999999G | wire ring | why @ 'bytes<=9999999G' is beyond 16384G
          allreduce | ranks=2 | wire ring | @ the reason is missing
          allreduce | bytes>8K | mapped direct | why @ needs the condition shared-memory
          allreduce | shared-memory bytes<=1K | mailbox recursive-doubling | why @ needs the condition bytes<=432
          allgather | bytes<=8K | wire direct | why @ allgather cannot be chosen by bytes or chunk
          wire | | 128K | why @ '128K' is not a SEGMENT x IN-FLIGHT such as 128K x 8
          wire | | 100 x 8 | why @ '100 x 8': a segment has 4K to 64M, in multiples of 64 bytes
          wire | | 128K x 0 | why @ '128K x 0'
          broadcast | private | wire binomial-tree | why @ only segments can be chosen by private
          mailbox | | 128K x 8 | why @ a mailbox has slots of one length
          """)
  void anInvalidRuleIsRefusedWithItsLine(String line, String message) throws IOException {
    Path file = file("\n" + line + "\n");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Algorithms.table(Optional.of(file)))
        .withMessageStartingWith(file + ", line 2: ")
        .withMessageContaining(message);
  }

  @Test
  void anUnreadableTableFailsTheStartOfARank() throws IOException {
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
        .isThrownBy(() -> chosen(SHIPPED, "scan", 4, hosts(2, 1), false))
        .withMessageContaining("scan");
  }

  @Test
  void linesOfAFileDetermineWhichTensorsShareABuffer() throws IOException {
    RankLayout network = RankLayout.of(hosts(4, 2), false, false);
    assertThat(SHIPPED.fusionRules(FusionRules.Subject.FUSION, network).shares(1 << 20)).isTrue();
    var own =
        own("fusion | bytes>64K | alone | of a test\n")
            .fusionRules(FusionRules.Subject.FUSION, network);
    assertThat(own.shares(1 << 16)).isTrue();
    assertThat(own.shares((1 << 16) + 1)).isFalse();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> own("fusion | | sometimes | of a test\n"))
        .withMessageContaining("own.txt, line 1")
        .withMessageContaining("allowed: shared, alone");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> own("fusion | private | alone | of a test\n"))
        .withMessageContaining("private");
  }

  @Test
  void linesOfAFileDetermineBuffersOfDifferentPriorities() throws IOException {
    RankLayout network = RankLayout.of(hosts(4, 2), false, false);
    FusionRules shipped = SHIPPED.fusionRules(FusionRules.Subject.MIXING, network);
    assertThat(shipped.shares(256 << 10)).isTrue();
    assertThat(shipped.shares((256 << 10) + 1)).isFalse();
    FusionRules own =
        own("mixing | hosts>1 | shared | of a test\n")
            .fusionRules(FusionRules.Subject.MIXING, network);
    assertThat(own.shares(1 << 30)).isTrue();
  }

  @Test
  void aLineOfAFileDeterminesTheMemoryOfBlocks() throws IOException {
    assertThat(SHIPPED.blockBytes()).isEqualTo(128 << 10);
    assertThat(own("blocks | | 64K | of a test\n").blockBytes()).isEqualTo(64 << 10);
    for (String bad : List.of("blocks | | 100", "blocks | | 65K x 1", "blocks | ranks>2 | 64K")) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> own(bad + " | of a test\n"))
          .withMessageContaining("own.txt, line 1")
          .withMessageContaining("a block ");
    }
  }
}
