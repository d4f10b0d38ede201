// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.ndarray.types.SparseFormat;
import ai.djl.nn.AbstractBlock;
import ai.djl.nn.Parameter;
import ai.djl.nn.core.Embedding;
import ai.djl.nn.core.Linear;
import ai.djl.nn.norm.LayerNorm;
import ai.djl.training.ParameterStore;
import ai.djl.training.initializer.NormalInitializer;
import ai.djl.util.PairList;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A language model: embeddings of characters and of their positions, layers of a decoder, and a
/// dense layer. Takes characters of shape rows by context, whose number the initialization sets.
/// Returns scores of shape rows · context by characters. A score depends only on the characters up
/// to its position.
final class GptBlock extends AbstractBlock {

  private static final int WIDTH = 256;
  private static final int HEADS = 4;
  private static final int LAYERS = 4;

  /// The arrays of one width, and of scores, that a layer keeps until the backward pass.
  private static final int KEPT_WIDTHS = 24;

  private static final int KEPT_SCORES = 4;

  private final int characters;
  private final Parameter codes;
  private final Parameter positions;
  private final List<GptLayer> layers = new ArrayList<>();
  private final LayerNorm norm;
  private final Linear scores;

  /// @param characters the number of classes
  GptBlock(int characters) {
    this.characters = characters;
    this.codes = addParameter(embedding("characters", 1));
    this.positions = addParameter(embedding("positions", 0.1f));
    for (int i = 0; i < LAYERS; i++) {
      layers.add(addChildBlock("layer" + i, new GptLayer(WIDTH, HEADS)));
    }
    this.norm = addChildBlock("norm", LayerNorm.builder().axis(2).build());
    this.scores = addChildBlock("scores", Linear.builder().setUnits(characters).build());
  }

  /// Returns about the bytes that training keeps for a character until the backward pass.
  static long bytesOfCharacter(int context) {
    return (long) LAYERS * Float.BYTES * (KEPT_WIDTHS * WIDTH + KEPT_SCORES * HEADS * context);
  }

  /// Returns a parameter with its own initial values, which no configuration replaces.
  private static Parameter embedding(String name, float deviation) {
    return Parameter.builder()
        .setName(name)
        .setType(Parameter.Type.OTHER)
        .optInitializer(new NormalInitializer(deviation))
        .build();
  }

  @Override
  protected void prepare(Shape[] inputs) {
    codes.setShape(new Shape(characters, WIDTH));
    positions.setShape(new Shape(inputs[0].get(1), WIDTH));
  }

  @Override
  protected void initializeChildBlocks(NDManager manager, DataType type, Shape... inputs) {
    Shape hidden = new Shape(inputs[0].get(0), inputs[0].get(1), WIDTH);
    layers.forEach(layer -> layer.initialize(manager, type, hidden));
    norm.initialize(manager, type, hidden);
    scores.initialize(manager, type, hidden);
  }

  @Override
  public Shape[] getOutputShapes(Shape[] inputs) {
    return new Shape[] {new Shape(inputs[0].get(0) * inputs[0].get(1), characters)};
  }

  @Override
  protected NDList forwardInternal(
      ParameterStore store,
      NDList inputs,
      boolean training,
      @Nullable PairList<String, Object> parameters) {
    NDArray text = inputs.singletonOrThrow();
    NDManager manager = text.getManager();
    NDArray table = store.getValue(codes, text.getDevice(), training);
    NDArray x = Embedding.embedding(text, table, SparseFormat.DENSE).singletonOrThrow();
    x.attach(manager);
    x = x.add(store.getValue(positions, text.getDevice(), training));
    NDArray future = future(manager, text.getShape().get(1));
    for (GptLayer layer : layers) {
      x = layer.forward(store, new NDList(x, future), training).singletonOrThrow();
    }
    x = norm.forward(store, new NDList(x), training).singletonOrThrow();
    NDArray all = scores.forward(store, new NDList(x), training).singletonOrThrow();
    return new NDList(all.reshape(-1, characters));
  }

  /// Returns the terms that take later positions out of a softmax: of shape context by context, 0
  /// up to the diagonal and a large negative number above it.
  private static NDArray future(NDManager manager, long context) {
    NDArray position = manager.arange((int) context);
    NDArray later = position.reshape(1, context).gt(position.reshape(context, 1));
    return later.toType(DataType.FLOAT32, false).mul(-1e9f);
  }
}
