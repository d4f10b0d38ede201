// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.nn.Activation;
import ai.djl.nn.core.Linear;
import ai.djl.nn.norm.LayerNorm;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;
import org.jspecify.annotations.Nullable;

/// A layer of a decoder: masked attention of several heads and two dense layers, each after a
/// normalization and added to its input. Takes values of shape rows by context by width, and a mask
/// of shape context by context that is added to the scores of the attention.
final class GptLayer extends AbstractBlock {

  private final int width;
  private final int heads;
  private final LayerNorm beforeAttention;
  private final Linear queriesKeysValues;
  private final Linear joined;
  private final LayerNorm beforeDense;
  private final Linear wide;
  private final Linear narrow;

  /// @param heads that divide the width
  GptLayer(int width, int heads) {
    this.width = width;
    this.heads = heads;
    this.beforeAttention = addChildBlock("norm1", LayerNorm.builder().axis(2).build());
    this.queriesKeysValues = addChildBlock("attention", dense(3 * width));
    this.joined = addChildBlock("joined", dense(width));
    this.beforeDense = addChildBlock("norm2", LayerNorm.builder().axis(2).build());
    this.wide = addChildBlock("wide", dense(4 * width));
    this.narrow = addChildBlock("narrow", dense(width));
  }

  private static Linear dense(int units) {
    return Linear.builder().setUnits(units).build();
  }

  @Override
  protected void initializeChildBlocks(NDManager manager, DataType type, Shape... inputs) {
    Shape wider = new Shape(inputs[0].get(0), inputs[0].get(1), 4L * width);
    beforeAttention.initialize(manager, type, inputs[0]);
    queriesKeysValues.initialize(manager, type, inputs[0]);
    joined.initialize(manager, type, inputs[0]);
    beforeDense.initialize(manager, type, inputs[0]);
    wide.initialize(manager, type, inputs[0]);
    narrow.initialize(manager, type, wider);
  }

  @Override
  public Shape[] getOutputShapes(Shape[] inputs) {
    return new Shape[] {inputs[0]};
  }

  @Override
  protected NDList forwardInternal(
      ParameterStore store,
      NDList inputs,
      boolean training,
      @Nullable PairList<String, Object> parameters) {
    NDArray x = inputs.get(0);
    NDArray normal = beforeAttention.forward(store, new NDList(x), training).singletonOrThrow();
    NDArray projected =
        queriesKeysValues.forward(store, new NDList(normal), training).singletonOrThrow();
    NDArray attended = attention(projected, inputs.get(1));
    x = x.add(joined.forward(store, new NDList(attended), training).singletonOrThrow());
    normal = beforeDense.forward(store, new NDList(x), training).singletonOrThrow();
    NDArray hidden = wide.forward(store, new NDList(normal), training).singletonOrThrow();
    NDList active = new NDList(Activation.gelu(hidden));
    return new NDList(x.add(narrow.forward(store, active, training).singletonOrThrow()));
  }

  /// Returns the softmax of (Q · Kᵀ / √d + mask), multiplied by V, for each head. The factor is an
  /// array of the batch's manager, because DJL holds a number in memory that Java may free before
  /// the backward pass.
  private NDArray attention(NDArray projected, NDArray mask) {
    long rows = projected.getShape().get(0);
    long context = projected.getShape().get(1);
    int each = width / heads;
    NDArray parts = projected.reshape(rows, context, 3, heads, each).transpose(2, 0, 3, 1, 4);
    NDArray keys = parts.get(1).transpose(0, 1, 3, 2);
    NDArray factor = mask.getManager().create((float) (1 / Math.sqrt(each)));
    NDArray fits = parts.get(0).matMul(keys).mul(factor).add(mask);
    NDArray mixed = fits.softmax(-1).matMul(parts.get(2));
    return mixed.transpose(0, 2, 1, 3).reshape(rows, context, width);
  }
}
