// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.WeftConfig;
import io.weft.testkit.job.LocalJob;
import io.weft.workloads.training.TrainingException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SameOptionsTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--lr 0.05 | --lr 0.1 | --lr 0.05, rank 1 with 0.1",
        "--batch 128 | --batch 64 | --batch 128, rank 1 with 64",
        "--seed 1 | --seed 2 | --seed 1, rank 1 with 2",
        "--epochs 2 | --epochs 3 | --epochs 2, rank 1 with 3",
        "--sync gradients | --sync weights:4 | --sync gradients, rank 1 with weights:4",
        "--compression int8 | --seed 1 | --compression int8, rank 1 with none",
        "--reproducible | --reproducible shards:4 | --reproducible shards:8, rank 1 with shards:4",
        "--reproducible | --reproducible --threads 2 | --threads 1, rank 1 with 2",
        "--reproducible | --seed 1 | --reproducible shards:8, rank 1 with none",
        "--scale-lr | --batch-per-rank 128 | --scale-lr on, rank 1 with none",
        "--scale-lr | --scale-lr --warmup-steps 9 | --scale-lr on, rank 1 with on, 9 steps",
        "--accumulate 2 | --batch 256 | --accumulate 2, rank 1 with none",
        "--clip 1 | --clip 2 | --clip 1.0, rank 1 with 2.0",
        "--read root | --read sharded | --read root, rank 1 with sharded",
        "--optimizer sgd | --optimizer adam | --optimizer sgd, rank 1 with adam",
        "--checkpoint /tmp/a | --seed 1 | --checkpoint DIR, rank 1 with none",
      })
  void optionThatDiffersIsNamedOnAllRanksWithBothValues(String one, String other, String words) {
    List<String> said = on(rank -> List.of((rank == 0 ? one : other).split(" ")));
    assertThat(said).allSatisfy(text -> assertThat(text).contains("started with " + words));
  }

  @ParameterizedTest
  @ValueSource(strings = {"--json /tmp/a.json", "--threads 1", "--checkpoint /tmp/b"})
  void optionsThatMayDifferAreAccepted(String option) {
    List<String> own = new ArrayList<>(List.of(option.split(" ")));
    List<String> other =
        option.startsWith("--checkpoint") ? List.of("--checkpoint", "/tmp/a") : List.of();
    assertThat(on(rank -> rank == 0 ? own : other)).containsOnly("the same");
  }

  private static List<String> on(IntFunction<List<String>> options) {
    WeftConfig config = WeftConfig.builder().transport("inproc").build();
    try (LocalJob job = LocalJob.start(2, config)) {
      return job.run(
          weft -> {
            List<String> arguments = new ArrayList<>(List.of("mnist-dnn"));
            arguments.addAll(options.apply(weft.rank()));
            TrainOptions parsed =
                new TrainCommandLine(Optional::empty).parse(arguments).orElseThrow();
            try {
              SameOptions.require(weft, parsed);
              return "the same";
            } catch (TrainingException.Unfit e) {
              return String.valueOf(e.getMessage());
            }
          });
    }
  }
}
