// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import io.weft.workloads.data.Examples;
import io.weft.workloads.model.Workload;
import java.nio.ByteBuffer;
import java.nio.LongBuffer;

/// The arrays of a batch for a block of DJL. Arrays belong to the manager of the batch.
sealed interface BatchForm {

  /// Returns the form for examples like these.
  static BatchForm of(Workload workload, Examples like) {
    return workload == Workload.TINY_GPT
        ? new Text(like.features())
        : new Pictures(workload, like.scale());
  }

  /// Returns the shape of the block's input.
  Shape shape(int rows);

  /// Returns the block's input.
  ///
  /// @param bytes the features of the rows
  NDArray input(NDManager manager, ByteBuffer bytes, int rows);

  /// Returns the number of targets of an example, each a class.
  int targets();

  /// Adds the targets of an example.
  void addTargets(Examples from, int row, LongBuffer to);

  /// Returns the scores of the examples' labels, of shape rows by classes.
  ///
  /// @param scores the block's output
  NDArray ofLabels(NDArray scores, int rows);

  /// Returns the number of examples that the block evaluates at a time.
  int rowsAtOnce();

  /// Returns about the memory that a step needs besides weights and gradients; 0 if it is small.
  long stepBytes(int rows);

  /// Pictures, each with its label as the target.
  ///
  /// @param scale the factor of a byte
  record Pictures(Workload workload, float scale) implements BatchForm {

    @Override
    public Shape shape(int rows) {
      return DjlBlocks.input(workload, rows);
    }

    @Override
    public NDArray input(NDManager manager, ByteBuffer bytes, int rows) {
      NDArray pixels = manager.create(bytes, shape(rows), DataType.UINT8);
      NDArray numbers = pixels.toType(DataType.FLOAT32, false);
      numbers.attach(manager);
      return numbers.muli(scale);
    }

    @Override
    public int targets() {
      return 1;
    }

    @Override
    public void addTargets(Examples from, int row, LongBuffer to) {
      to.put(from.labels()[row]);
    }

    @Override
    public NDArray ofLabels(NDArray scores, int rows) {
      return scores;
    }

    @Override
    public int rowsAtOnce() {
      return Integer.MAX_VALUE;
    }

    @Override
    public long stepBytes(int rows) {
      return 0;
    }
  }

  /// Windows of text. The target of each character is the next one, that of the last is the label.
  ///
  /// @param context the characters of an example
  record Text(int context) implements BatchForm {

    private static final int CHARACTERS_AT_ONCE = 2048;

    @Override
    public Shape shape(int rows) {
      return new Shape(rows, context);
    }

    @Override
    public NDArray input(NDManager manager, ByteBuffer bytes, int rows) {
      NDArray codes = manager.create(bytes, shape(rows), DataType.UINT8);
      NDArray numbers = codes.toType(DataType.INT64, false);
      numbers.attach(manager);
      return numbers;
    }

    @Override
    public int targets() {
      return context;
    }

    @Override
    public void addTargets(Examples from, int row, LongBuffer to) {
      int first = row * context;
      for (int i = 1; i < context; i++) {
        to.put(from.values()[first + i]);
      }
      to.put(from.labels()[row]);
    }

    @Override
    public NDArray ofLabels(NDArray scores, int rows) {
      return scores.reshape(rows, context, -1).get(":, " + (context - 1));
    }

    @Override
    public int rowsAtOnce() {
      return Math.max(1, CHARACTERS_AT_ONCE / context);
    }

    @Override
    public long stepBytes(int rows) {
      return (long) rows * context * GptBlock.bytesOfCharacter(context);
    }
  }
}
