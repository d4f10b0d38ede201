// SPDX-License-Identifier: Apache-2.0
package examples;

import ai.djl.Model;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.core.Linear;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.EasyTrain;
import ai.djl.training.Trainer;
import ai.djl.training.dataset.ArrayDataset;
import ai.djl.training.loss.Loss;
import ai.djl.training.optimizer.Optimizer;
import ai.djl.training.tracker.Tracker;
import ai.djl.translate.TranslateException;
import io.weft.Weft;
import io.weft.djl.DistributedListener;
import java.io.IOException;
import java.util.Locale;
import java.util.stream.IntStream;

/// Fits a line to points with DJL and PyTorch. Three lines, numbered below, extend the program from
/// one process to many. On two processes:
///
/// ```
/// ./weft run -np 2 -- ./weft java examples/DjlTraining.java
/// ```
final class DjlTraining {

  private static final int POINTS = 64;
  private static final int BATCH = 8;
  private static final int EPOCHS = 60;

  private DjlTraining() {}

  static void main() throws IOException, TranslateException {
    try (Weft weft = Weft.init(); // 1: join the job
        Model model = Model.newInstance("line", "PyTorch");
        NDManager manager = NDManager.newBaseManager("PyTorch")) {
      int[] rows =
          IntStream.range(0, POINTS)
              .filter(row -> row % weft.size() == weft.rank()) // 2: take this rank's share
              .toArray();
      float[] xs = new float[rows.length];
      float[] ys = new float[rows.length];
      for (int i = 0; i < rows.length; i++) {
        xs[i] = 2f * rows[i] / POINTS - 1;
        ys[i] = 3 * xs[i] + 2;
      }
      ArrayDataset points =
          new ArrayDataset.Builder()
              .setData(manager.create(xs, new Shape(xs.length, 1)))
              .optLabels(manager.create(ys, new Shape(ys.length, 1)))
              .setSampling(BATCH, true)
              .build();

      model.setBlock(Linear.builder().setUnits(1).build());
      Optimizer optimizer = Optimizer.sgd().setLearningRateTracker(Tracker.fixed(0.3f)).build();
      DefaultTrainingConfig config =
          new DefaultTrainingConfig(Loss.l2Loss())
              .optOptimizer(optimizer)
              .addTrainingListeners(new DistributedListener(weft)); // 3: average gradients
      try (Trainer trainer = model.newTrainer(config)) {
        trainer.initialize(new Shape(BATCH, 1));
        EasyTrain.fit(trainer, EPOCHS, points, null);
      }
      var found = model.getBlock().getParameters();
      System.out.printf(
          Locale.ROOT,
          "rank %d of %d: y = %.2f x + %.2f%n",
          weft.rank(),
          weft.size(),
          found.get(0).getValue().getArray().toFloatArray()[0],
          found.get(1).getValue().getArray().toFloatArray()[0]);
    }
  }
}
