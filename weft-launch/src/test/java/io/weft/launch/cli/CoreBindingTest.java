// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.weft.testkit.program.Needs;
import io.weft.testkit.program.OptionalProgram;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
@Needs(OptionalProgram.TASKSET)
class CoreBindingTest {

  private static final String TELL =
      "sed -n 's/^Cpus_allowed_list:[^0-9]*//p' /proc/self/status; echo \"$#: $1\"";

  /// Returns the processors that a rank sees, and its arguments.
  private static List<String> rank(int local, int size) throws Exception {
    List<String> command = CoreBinding.of(List.of("sh", "-c", TELL, "sh", "a 'word' of $HOME"));
    var builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder
        .environment()
        .putAll(Map.of("WEFT_LOCAL_RANK", "" + local, "WEFT_LOCAL_SIZE", "" + size));
    Process process = builder.start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(said).isZero();
    return said.lines().toList();
  }

  private static BitSet processors(String list) {
    var set = new BitSet();
    for (String range : list.split(",")) {
      String[] ends = range.split("-");
      set.set(Integer.parseInt(ends[0]), Integer.parseInt(ends[ends.length - 1]) + 1);
    }
    return set;
  }

  private static List<BitSet> ranks(int size) throws Exception {
    var shares = new ArrayList<BitSet>();
    for (int local = 0; local < size; local++) {
      shares.add(processors(rank(local, size).getFirst()));
    }
    return shares;
  }

  @Test
  void ranksShareAllProcessorsEqually() throws Exception {
    int cores = ranks(1).getFirst().cardinality();
    assumeTrue(cores >= 2, "one processor");
    List<BitSet> shares = ranks(2);
    assertThat(shares).allSatisfy(share -> assertThat(share.cardinality()).isEqualTo(cores / 2));
    assertThat(shares.getFirst().intersects(shares.getLast())).isFalse();
  }

  @Test
  void moreRanksThanProcessorsHaveOneEach() throws Exception {
    int cores = ranks(1).getFirst().cardinality();
    int size = Math.min(cores + 1, 9);
    assumeTrue(size > cores, "too many processors for a test");
    List<BitSet> shares = ranks(size);
    assertThat(shares).allSatisfy(share -> assertThat(share.cardinality()).isEqualTo(1));
    assertThat(shares.getLast()).isEqualTo(shares.getFirst());
  }

  @Test
  void boundCommandKeepsItsArguments() throws Exception {
    assertThat(rank(0, 1)).last().isEqualTo("1: a 'word' of $HOME");
  }
}
