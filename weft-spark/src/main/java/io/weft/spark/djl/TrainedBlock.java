// SPDX-License-Identifier: Apache-2.0
package io.weft.spark.djl;

import ai.djl.Device;
import ai.djl.MalformedModelException;
import ai.djl.Model;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.translate.NoopTranslator;
import ai.djl.translate.TranslateException;
import io.weft.djl.PyTorch;
import io.weft.spark.model.ModelFactory;
import io.weft.spark.model.ModelInput;
import io.weft.spark.model.TrainedModel;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.Serial;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/// A trained block of DJL: the values of its parameters, and the factory that builds it. Immutable.
final class TrainedBlock implements TrainedModel {

  /// The file with the parameters, as DJL writes them.
  static final String PARAMETERS = "parameters";

  static final int MOST_BYTES = Integer.MAX_VALUE - 64;

  @Serial private static final long serialVersionUID = 1L;

  /// The file with the numbers of features and classes.
  private static final String INPUT = "input";

  private final BlockFactory factory;
  private final TreeMap<String, byte[]> files;

  TrainedBlock(BlockFactory factory, Map<String, byte[]> files) {
    this.factory = factory;
    this.files = new TreeMap<>(files);
  }

  private byte[] file(String name) {
    return Objects.requireNonNull(files.get(name), name);
  }

  static TrainedBlock of(BlockFactory factory, ModelInput input, Block block) throws IOException {
    String numbers = input.width() + "," + input.classes();
    return new TrainedBlock(
        factory, Map.of(PARAMETERS, bytes(block), INPUT, numbers.getBytes(StandardCharsets.UTF_8)));
  }

  /// Returns the parameters of a block as bytes.
  static byte[] bytes(Block block) throws IOException {
    var bytes = new ByteArrayOutputStream();
    block.saveParameters(new DataOutputStream(bytes));
    return bytes.toByteArray();
  }

  /// Returns a new block with these parameters, whose memory belongs to `manager`.
  static Block read(BlockFactory factory, ModelInput input, NDManager manager, byte[] parameters)
      throws IOException {
    Block block = factory.block(input);
    try {
      block.loadParameters(manager, new DataInputStream(new ByteArrayInputStream(parameters)));
      return block;
    } catch (MalformedModelException other) {
      throw new IOException(
          "the block of " + factory + " has other parameters than the saved ones", other);
    }
  }

  @Override
  public SortedMap<String, byte[]> files() {
    return Collections.unmodifiableSortedMap(files);
  }

  @Override
  public Optional<ModelFactory> factory() {
    return Optional.of(factory);
  }

  @Override
  public LoadedModel load() {
    String numbers = new String(file(INPUT), StandardCharsets.UTF_8);
    int comma = numbers.indexOf(',');
    int width = Integer.parseInt(numbers.substring(0, comma));
    int classes = Integer.parseInt(numbers.substring(comma + 1));
    var unused = PyTorch.load();
    Model model = Model.newInstance("spark", Device.cpu(), PyTorch.ENGINE);
    try {
      var input = new ModelInput(width, classes, 1, 0, 1);
      model.setBlock(read(factory, input, model.getNDManager(), file(PARAMETERS)));
      return new LoadedBlock(width, model, model.newPredictor(new NoopTranslator()));
    } catch (IOException | RuntimeException failed) {
      model.close();
      throw failed instanceof RuntimeException runtime
          ? runtime
          : new UncheckedIOException((IOException) failed);
    }
  }

  @Override
  public String toString() {
    return "TrainedBlock[" + factory + ", " + file(PARAMETERS).length + " bytes]";
  }

  /// @param width the number of features
  /// @param model the block; owned
  /// @param predictor used by one thread at a time; owned
  private record LoadedBlock(int width, Model model, Predictor<NDList, NDList> predictor)
      implements LoadedModel {

    @Override
    public synchronized float[] outputs(float[] features, int rows) {
      if (features.length != (long) width * rows) {
        throw new IllegalArgumentException(
            "rows have %d features, but the block was trained with %d"
                .formatted(features.length / rows, width));
      }
      try (NDManager manager = model.getNDManager().newSubManager();
          NDList output =
              predictor.predict(new NDList(manager.create(features, new Shape(rows, width))))) {
        NDArray values = output.singletonOrThrow();
        return values.toFloatArray();
      } catch (TranslateException failed) {
        throw new IllegalStateException("the block of DJL does not compute", failed);
      }
    }

    @Override
    public void close() {
      predictor.close();
      model.close();
    }
  }
}
