// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import io.weft.workloads.clicks.SyntheticClicks;
import io.weft.workloads.data.DataSource;
import io.weft.workloads.data.Examples;
import io.weft.workloads.data.ReadProgress;
import io.weft.workloads.digits.SyntheticDigits;
import io.weft.workloads.model.Workload;
import io.weft.workloads.training.Sync;
import io.weft.workloads.training.TrainingSettings;
import java.util.List;
import java.util.Random;

/// A few synchronous steps of one of the papers' workloads, on little data.
record SmallTraining(TrainingSettings settings, DataSource source) {

  static final SmallTraining CONVOLUTIONS =
      of(Workload.MNIST_CNN, 20, 0.02f, new SyntheticDigits(1, 100, 40));

  static final SmallTraining NARROW_ALEXNET =
      of(Workload.ALEXNET, 4, 0.001f, new Noise(3 * 67 * 67));

  static final SmallTraining CLICKS =
      of(Workload.WIDE_DEEP, 60, 0.05f, new SyntheticClicks(20, 600, 11));

  static final List<SmallTraining> ALL = List.of(CONVOLUTIONS, NARROW_ALEXNET, CLICKS);

  /// Returns the title of the workload.
  String name() {
    return settings.workload().title();
  }

  static SmallTraining of(Workload workload, int batch, float rate, DataSource source) {
    return new SmallTraining(
        ServedRuns.settings(workload, batch, rate, new Sync.Gradients()), source);
  }

  /// Images of noise.
  private record Noise(int features) implements DataSource {

    @Override
    public String name() {
      return "noise";
    }

    @Override
    public void check() {}

    @Override
    public Examples train(ReadProgress progress) {
      return draw(24);
    }

    @Override
    public Examples test(ReadProgress progress) {
      return draw(4);
    }

    private Examples draw(int count) {
      var random = new Random(count);
      byte[] values = new byte[count * features];
      random.nextBytes(values);
      byte[] labels = new byte[count];
      for (int i = 0; i < count; i++) {
        labels[i] = (byte) random.nextInt(100);
      }
      return new Examples(features, 100, 1f / 255, values, labels);
    }
  }
}
