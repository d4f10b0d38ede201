// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.compress;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.weft.cluster.ProcessSet;
import io.weft.comm.CommException;
import io.weft.gradient.GradientReducer;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.Shape;
import io.weft.tensor.quantize.Quantizer;
import io.weft.testkit.job.LocalJob;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class CompressionTest {

  private static float[] gradient(int elements, int rank, int step) {
    var random = new Random(1000L * rank + step);
    float[] values = new float[elements];
    for (int i = 0; i < elements; i++) {
      values[i] = (float) random.nextGaussian();
    }
    return values;
  }

  /// Returns the means of each step on each rank.
  private static List<List<float[]>> means(LocalJob job, String how, int elements, int steps) {
    return job.run(
        weft -> {
          GradientReducer reducer = Compression.parse(how).reducers().reducer(weft.communicator());
          var means = new ArrayList<float[]>();
          try (var tensor = OwnedTensor.allocate(DType.FLOAT32, Shape.of(elements))) {
            for (int step = 0; step < steps; step++) {
              put(tensor, gradient(elements, weft.rank(), step));
              var unused = reducer.reduce("g", tensor.view()).await();
              means.add(tensor.view().data().toArray(JAVA_FLOAT));
            }
          }
          return means;
        });
  }

  private static void put(OwnedTensor tensor, float[] values) {
    for (int i = 0; i < values.length; i++) {
      tensor.view().data().setAtIndex(JAVA_FLOAT, i, values[i]);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "8, 2, 5000",
    "8, 3, 5000",
    "4, 3, 4097",
    "4, 4, 1025",
    "8, 4, 10",
    "8, 3, 0",
    "4, 2, 1024"
  })
  void quantizedMeansEqualThoseOfTheModel(int bits, int ranks, int elements) {
    int steps = 4;
    List<float[]> expected = quantizedModel(bits, ranks, elements, steps);
    try (LocalJob job = LocalJob.over("inproc", ranks)) {
      for (List<float[]> means : means(job, "int" + bits, elements, steps)) {
        for (int step = 0; step < steps; step++) {
          assertThat(means.get(step)).as("step %d", step).isEqualTo(expected.get(step));
        }
      }
    }
  }

  /// Computes the definition of `Quantizer` in plain arithmetic, element by element.
  private static float[] model(int bits, float[] values, float[] residual) {
    int largest = bits == 8 ? 127 : 7;
    float[] read = new float[values.length];
    for (int first = 0; first < values.length; first += Quantizer.BLOCK) {
      int end = Math.min(values.length, first + Quantizer.BLOCK);
      float most = 0;
      for (int i = first; i < end; i++) {
        most = Math.max(most, Math.abs(values[i] + residual[i]));
      }
      float scale = most < 0x1p-100f ? 0 : most / largest;
      for (int i = first; i < end; i++) {
        float sum = values[i] + residual[i];
        float number = scale == 0 ? 0 : (float) Math.rint(sum * (1 / scale)) + 0f; // no -0
        read[i] = number * scale;
        residual[i] = sum - read[i];
      }
    }
    return read;
  }

  /// Owners quantize sums in slices that are cut at block bounds, so the model need not cut.
  private static List<float[]> quantizedModel(int bits, int ranks, int elements, int steps) {
    float[][] residuals = new float[ranks][elements];
    float[] residualOfSum = new float[elements];
    var means = new ArrayList<float[]>();
    for (int step = 0; step < steps; step++) {
      float[] sum = new float[elements];
      for (int rank = 0; rank < ranks; rank++) {
        float[] read = model(bits, gradient(elements, rank, step), residuals[rank]);
        for (int i = 0; i < elements; i++) {
          sum[i] = rank == 0 ? read[i] : read[i] + sum[i];
        }
      }
      for (int i = 0; i < elements; i++) {
        sum[i] /= ranks;
      }
      means.add(model(bits, sum, residualOfSum));
    }
    return means;
  }

  @ParameterizedTest
  @ValueSource(strings = {"int8", "int4", "topk:0.1"})
  void theResidualOfAStepIsSentLater(String how) {
    int elements = 2000;
    int steps = 60;
    double[] exact = new double[elements];
    for (int step = 0; step < steps; step++) {
      for (int rank = 0; rank < 2; rank++) {
        float[] values = gradient(elements, rank, step);
        for (int i = 0; i < elements; i++) {
          exact[i] += values[i] / 2.0;
        }
      }
    }
    double[] sum = new double[elements];
    try (LocalJob job = LocalJob.over("inproc", 2)) {
      for (float[] mean : means(job, how, elements, steps).getFirst()) {
        for (int i = 0; i < elements; i++) {
          sum[i] += mean[i];
        }
      }
    }
    double bound = how.startsWith("topk") ? 8 : how.equals("int8") ? 0.04 : 0.7;
    for (int i = 0; i < elements; i++) {
      assertThat(sum[i]).as("element %d", i).isCloseTo(exact[i], within(bound));
    }
  }

  @Test
  void onlyTheLargestElementsAreSentAndTheOthersAreKept() {
    try (LocalJob job = LocalJob.over("inproc", 2)) {
      List<List<float[]>> all =
          job.run(
              weft -> {
                GradientReducer reducer =
                    new Compression.TopK(0.4).reducers().reducer(weft.communicator());
                float sign = weft.rank() == 0 ? 1 : -1;
                var means = new ArrayList<float[]>();
                try (var tensor = OwnedTensor.allocate(DType.FLOAT32, Shape.of(5))) {
                  put(tensor, new float[] {3 * sign, 8, 2, 2, 0});
                  var first = reducer.reduce("g", tensor.view()).await();
                  means.add(first.data().toArray(JAVA_FLOAT));
                  put(tensor, new float[] {0, 0, 2, 1, 0});
                  var second = reducer.reduce("g", tensor.view()).await();
                  means.add(second.data().toArray(JAVA_FLOAT));
                }
                return means;
              });
      for (List<float[]> means : all) {
        assertThat(means.get(0)).containsExactly(0, 8, 0, 0, 0);
        assertThat(means.get(1)).containsExactly(0, 0, 4, 3, 0);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"fp16", "bf16", "int8", "int4", "topk:0.5"})
  void aValueThatIsNotANumberIsNamedOnAllRanksAndNothingIsLost(String how) {
    try (LocalJob job = LocalJob.over("inproc", 3)) {
      List<List<float[]>> undisturbed = means(job, how, 3000, 2);
      List<List<float[]>> disturbed =
          job.run(
              weft -> {
                GradientReducer reducer =
                    Compression.parse(how).reducers().reducer(weft.communicator());
                var means = new ArrayList<float[]>();
                try (var tensor = OwnedTensor.allocate(DType.FLOAT32, Shape.of(3000))) {
                  for (int step = 0; step < 2; step++) {
                    float[] wrong = gradient(3000, weft.rank(), 77);
                    if (weft.rank() == 1) {
                      wrong[2222] = Float.NaN;
                    }
                    put(tensor, wrong);
                    assertThatThrownBy(() -> reducer.reduce("g", tensor.view()).await())
                        .isInstanceOf(CommException.Broken.class)
                        .hasMessageContaining("rank 1: ")
                        .hasMessageContaining("'g' has NaN at index 2222");
                    assertThat(tensor.view().data().toArray(JAVA_FLOAT)).isEqualTo(wrong);
                    put(tensor, gradient(3000, weft.rank(), step));
                    var mean = reducer.reduce("g", tensor.view()).await();
                    means.add(mean.data().toArray(JAVA_FLOAT));
                  }
                }
                return means;
              });
      for (int rank = 0; rank < 3; rank++) {
        assertThat(disturbed.get(rank).get(0)).isEqualTo(undisturbed.get(rank).get(0));
        assertThat(disturbed.get(rank).get(1)).isEqualTo(undisturbed.get(rank).get(1));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"int8", "topk:0.5"})
  void theRankNamedInAProcessSetIsThatOfTheJob(String how) {
    try (LocalJob job = LocalJob.over("inproc", 3)) {
      job.run(
          weft -> {
            if (weft.rank() == 0) {
              return true;
            }
            var set = new ProcessSet(List.of(1, 2));
            try (var communicator = weft.communicator(set);
                var tensor = OwnedTensor.allocate(DType.FLOAT32, Shape.of(10))) {
              GradientReducer reducer = Compression.parse(how).reducers().reducer(communicator);
              if (weft.rank() == 2) {
                tensor.view().data().setAtIndex(JAVA_FLOAT, 3, Float.NaN);
              }
              assertThatThrownBy(() -> reducer.reduce("g", tensor.view()).await())
                  .isInstanceOfSatisfying(
                      CommException.Broken.class, cause -> assertThat(cause.culprit()).isEqualTo(2))
                  .hasMessageContaining("rank 2: gradient 'g' has NaN at index 3");
              put(tensor, new float[10]);
              var unused = reducer.reduce("g", tensor.view()).await();
            }
            return true;
          });
    }
  }

  @Test
  void aSumBeyondTheLargestNumberIsNamedOnAllRanks() {
    try (LocalJob job = LocalJob.over("inproc", 2)) {
      job.run(
          weft -> {
            GradientReducer reducer =
                new Compression.Quantized(8).reducers().reducer(weft.communicator());
            try (var tensor = OwnedTensor.allocate(DType.FLOAT32, Shape.of(1500))) {
              tensor.view().data().setAtIndex(JAVA_FLOAT, 1400, Float.MAX_VALUE);
              assertThatThrownBy(() -> reducer.reduce("g", tensor.view()).await())
                  .isInstanceOf(CommException.Broken.class)
                  .hasMessageContaining(
                      "rank 1: the mean of gradient 'g' has Infinity at index 1400");
            }
            return true;
          });
    }
  }

  @ParameterizedTest
  @CsvSource({"int8, int4", "int8, int8", "topk:0.5, topk:0.5", "topk:0.5, topk:0.1"})
  void ranksThatDisagreeAllFail(String first, String second) {
    try (LocalJob job = LocalJob.over("inproc", 2)) {
      job.run(
          weft -> {
            boolean zero = weft.rank() == 0;
            int elements = zero ? 100 : first.equals(second) ? 90 : 100;
            GradientReducer reducer =
                Compression.parse(zero ? first : second).reducers().reducer(weft.communicator());
            try (var tensor = OwnedTensor.allocate(DType.FLOAT32, Shape.of(elements))) {
              assertThatThrownBy(() -> reducer.reduce("g", tensor.view()).await())
                  .isInstanceOf(CommException.Mismatch.class)
                  .hasMessageContaining("gradient 'g': rank " + (1 - weft.rank()))
                  .hasMessageContaining("give all ranks the same shape and compression");
            }
            return true;
          });
    }
  }

  @Test
  void aNameKeepsItsLength() {
    try (LocalJob job = LocalJob.over("inproc", 2)) {
      job.run(
          weft -> {
            GradientReducer reducer =
                new Compression.Quantized(4).reducers().reducer(weft.communicator());
            try (var small = OwnedTensor.allocate(DType.FLOAT32, Shape.of(3));
                var large = OwnedTensor.allocate(DType.FLOAT32, Shape.of(4))) {
              var unused = reducer.reduce("g", small.view()).await();
              assertThatThrownBy(() -> reducer.reduce("g", large.view()))
                  .isInstanceOf(IllegalArgumentException.class)
                  .hasMessageContaining("'g' has 4 elements, and had 3 before");
            }
            return true;
          });
    }
  }

  @Test
  void manyNamesInDifferentOrdersAreAveragedAtOnce() {
    try (LocalJob job = LocalJob.over("tcp", 3)) {
      job.run(
          weft -> {
            GradientReducer reducer =
                new Compression.Quantized(8).reducers().reducer(weft.communicator());
            var tensors = new ArrayList<OwnedTensor>();
            var handles = new ArrayList<io.weft.comm.Handle<?>>();
            for (int i = 0; i < 50; i++) {
              int name = weft.rank() == 0 ? i : 49 - i;
              var tensor = OwnedTensor.allocate(DType.FLOAT32, Shape.of(1 + 40L * name));
              tensors.add(tensor);
              tensor.view().data().setAtIndex(JAVA_FLOAT, 0, 127 + name);
              handles.add(reducer.reduce("g" + name, tensor.view()));
            }
            for (int i = 0; i < 50; i++) {
              int name = weft.rank() == 0 ? i : 49 - i;
              var unused = handles.get(i).await();
              assertThat(tensors.get(i).view().data().getAtIndex(JAVA_FLOAT, 0))
                  .isCloseTo(127 + name, within(0.001f));
              tensors.get(i).close();
            }
            return true;
          });
    }
  }

  @Test
  void quantizedBytesAreAQuarterAndAnEighth() {
    long plain = sent("none");
    assertThat((double) plain / sent("int8")).isBetween(3.8, 4.1);
    assertThat((double) plain / sent("int4")).isBetween(7.4, 8.2);
    assertThat((double) plain / sent("topk:0.01")).isGreaterThan(20);
  }

  private static long sent(String how) {
    try (LocalJob job = LocalJob.over("tcp", 2)) {
      long before = job.ranks().getFirst().bytesSent();
      var unused = means(job, how, 1 << 20, 2);
      return job.ranks().getFirst().bytesSent() - before;
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"none", "fp16", "bf16", "int8", "int4", "topk:0.01", "topk:1.0"})
  void textIsReadAndWritten(String text) {
    assertThat(Compression.parse(text)).hasToString(text);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "int16", "topk", "topk:", "topk:0", "topk:0.0", "topk:1.5", "topk:-1"})
  void invalidTextIsRefused(String text) {
    assertThatThrownBy(() -> Compression.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'" + text + "'")
        .hasMessageContaining("int8, int4, or topk:RATIO");
  }

  @Test
  void tensorsOfOtherTypesAreSentUncompressed() {
    try (LocalJob job = LocalJob.over("inproc", 2)) {
      job.run(
          weft -> {
            try (var tensor = OwnedTensor.allocate(DType.INT64, Shape.of(2))) {
              tensor.view().data().fill((byte) (2 * weft.rank()));
              var unused =
                  new Compression.Quantized(8)
                      .reducers()
                      .reducer(weft.communicator())
                      .reduce("n", tensor.view())
                      .await();
              assertThat(tensor.view().data().get(java.lang.foreign.ValueLayout.JAVA_LONG, 8))
                  .isEqualTo(0x0101010101010101L);
            }
            return true;
          });
    }
  }
}
