// SPDX-License-Identifier: Apache-2.0
package io.weft.spark.djl;

import ai.djl.Device;
import ai.djl.Model;
import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;
import ai.djl.nn.ParameterList;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.GradientCollector;
import ai.djl.training.loss.Loss;
import io.weft.Weft;
import io.weft.dataparallel.DataParallel;
import io.weft.dataparallel.DataParallelOptions;
import io.weft.dataparallel.Fusion;
import io.weft.djl.DistributedTrainer;
import io.weft.djl.PyTorch;
import io.weft.file.ForeignFile;
import io.weft.file.NewFile;
import io.weft.spark.model.ModelInput;
import io.weft.spark.model.RowBatch;
import io.weft.spark.model.TrainableModel;
import io.weft.spark.model.TrainedModel;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.concurrent.locks.ReentrantLock;

/// A block of DJL in training on one rank.
final class BlockModel implements TrainableModel {

  // DJL collects the gradients of one thread of a process at a time.
  private static final ReentrantLock COLLECTING = new ReentrantLock();

  private final BlockFactory factory;
  private final ModelInput input;
  private final Weft weft;
  private final Resources resources;

  private BlockModel(BlockFactory factory, Weft weft, ModelInput input, Resources resources) {
    this.factory = factory;
    this.weft = weft;
    this.input = input;
    this.resources = resources;
  }

  /// The owned objects of a training.
  private record Resources(DataParallel parallel, Model model, DistributedTrainer trainer)
      implements AutoCloseable {

    @Override
    public void close() {
      trainer.close();
      model.close();
      parallel.close();
    }
  }

  /// Builds the block of a factory with the values of rank 0. Collective. Throws
  /// `IllegalArgumentException` if the block has no parameters.
  static BlockModel create(BlockFactory factory, Weft weft, ModelInput input) {
    Engine engine = PyTorch.load();
    var options = DataParallelOptions.of(weft.config()).named("spark");
    Model model = Model.newInstance("spark", Device.cpu(), PyTorch.ENGINE);
    Shape shape = new Shape(1, input.width());
    COLLECTING.lock(); // the generator of random numbers, too, serves the whole process
    try {
      engine.setRandomSeed((int) input.seed());
      model.setBlock(factory.block(input));
      model.getBlock().initialize(model.getNDManager(), DataType.FLOAT32, shape);
    } finally {
      COLLECTING.unlock();
    }
    var config =
        new DefaultTrainingConfig(Loss.l2Loss())
            .optDevices(new Device[] {Device.cpu()})
            .optOptimizer(factory.optimizer());
    DataParallel parallel =
        DataParallel.open(
            weft, options.fusion() == Fusion.OFF ? options.with(Fusion.AUTO) : options);
    var resources =
        new Resources(
            parallel,
            model,
            new DistributedTrainer(parallel.reducer(weft.communicator()), model, config));
    try {
      resources.trainer.initialize(shape);
      return new BlockModel(factory, weft, input, resources);
    } catch (RuntimeException | Error failed) {
      resources.close();
      throw failed;
    }
  }

  @Override
  public double step(RowBatch batch) {
    double sum = backward(batch);
    resources.trainer.step();
    return sum;
  }

  private double backward(RowBatch batch) {
    COLLECTING.lock();
    try (NDManager manager = resources.trainer.getManager().newSubManager();
        GradientCollector collector = resources.trainer.newGradientCollector()) {
      NDArray x = manager.create(batch.features(), new Shape(batch.rows(), input.width()));
      NDArray y = manager.create(batch.labels());
      NDArray w = manager.create(batch.weights());
      NDList output = resources.trainer.forward(new NDList(x));
      output.attach(manager);
      NDArray losses = factory.losses(output.singletonOrThrow(), y, input);
      losses.attach(manager);
      NDArray sum = losses.mul(w).sum();
      collector.backward(sum.div(manager.create((float) input.batchSize())));
      return sum.getFloat();
    } finally {
      COLLECTING.unlock();
    }
  }

  @Override
  public void endEpoch() throws InterruptedException {
    if (weft.size() > 1) {
      broadcast(resources.parallel.reducer(weft.communicator()).join().await());
    }
  }

  @Override
  public void broadcast(int root) {
    resources.trainer.broadcast(root);
  }

  @Override
  public void save(Path directory) throws IOException {
    NewFile.write(
        directory.resolve(TrainedBlock.PARAMETERS), TrainedBlock.bytes(resources.model.getBlock()));
  }

  @Override
  public void restore(Path directory) throws IOException {
    byte[] saved =
        ForeignFile.found(directory.resolve(TrainedBlock.PARAMETERS))
            .bytes(TrainedBlock.MOST_BYTES);
    ParameterList own = resources.model.getBlock().getParameters();
    try (NDManager manager = resources.trainer.getManager().newSubManager()) {
      ParameterList read = TrainedBlock.read(factory, input, manager, saved).getParameters();
      for (int i = 0; i < own.size(); i++) {
        memory(own.valueAt(i)).copyFrom(memory(read.valueAt(i)));
      }
    }
  }

  private static MemorySegment memory(Parameter parameter) {
    return MemorySegment.ofBuffer(parameter.getArray().toByteBuffer(true));
  }

  @Override
  public String digest() {
    return resources.trainer.digest();
  }

  @Override
  public TrainedModel trained() throws IOException {
    return TrainedBlock.of(factory, input, resources.model.getBlock());
  }

  @Override
  public void close() {
    resources.close();
  }
}
