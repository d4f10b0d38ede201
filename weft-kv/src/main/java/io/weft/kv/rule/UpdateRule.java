// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.rule;

/// The rule by which a pushed gradient changes values and their optimizer slots. All state is in
/// the slots. A rule is a pure function of its arguments, so that the same pushes in the same order
/// yield the same bits on any shard. Any thread; implementations are immutable.
///
/// `UpdateRules.parse` creates the built-in rules from text.
public interface UpdateRule {

  /// Returns the number of FLOAT32 slots of each value, such as 1 for momentum and 2 for Adam.
  int slots();

  /// Returns the number of FLOAT32 slots of each row, in addition to those of its values, such as 1
  /// for row-wise Adagrad. A rule with row slots is only for tables, because a dense tensor has no
  /// rows.
  default int rowSlots() {
    return 0;
  }

  /// Returns the initial value of a slot. The slots of the values are numbered first, then those of
  /// the row.
  default float initialSlot(int slot) {
    return 0;
  }

  /// Returns whether `rate` depends on the step. If so, each push is sent to all shards, even to
  /// those without any of its keys, so that all shards count the updates of the table.
  default boolean countsSteps() {
    return false;
  }

  /// Returns the learning rate of a step. It is computed once per push and passed to each `apply`.
  /// Computations that are equal for all rows of a step, such as Adam's bias correction, belong
  /// here.
  ///
  /// @param step number of the update of this table or tensor, from 1
  float rate(long step);

  /// Applies the gradient in `tile` to its values and slots.
  ///
  /// Hot path.
  ///
  /// @param rows the number of rows in use, from the first of the tile
  /// @param width elements of a row
  /// @param rate the result of `rate` for this step
  void apply(UpdateTile tile, int rows, int width, float rate);
}
