// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.rule;

/// How a pushed gradient changes values and their optimizer slots. All state is in the slots: a
/// rule is a pure function of its arguments, so that the same pushes in the same order give the
/// same bits wherever a shard lies. Any thread; implementations are immutable.
///
/// Rules of Weft's own are made from text by `UpdateRules.parse`.
public interface UpdateRule {

  /// Slots of FLOAT32 that each value has, as momentum has 1 and Adam 2.
  int slots();

  /// Slots of FLOAT32 that each row has beside those of its values, as row-wise Adagrad has 1. A
  /// rule that has some is for tables only: a dense tensor has no rows.
  default int rowSlots() {
    return 0;
  }

  /// What a slot begins with, of the values first, then of the row.
  default float initialSlot(int slot) {
    return 0;
  }

  /// Whether `rate` depends on the step. Then each push goes to all shards, also to those that have
  /// none of its keys, so that all of them count the updates of the table.
  default boolean countsSteps() {
    return false;
  }

  /// Learning rate of a step: found once for a push, then given to each `apply` of it. Anything
  /// that is the same for all rows of a step belongs here, as Adam's correction of the bias.
  ///
  /// @param step number of the update of this table or tensor, from 1
  float rate(long step);

  /// Applies the gradient in `tile` to the values and slots in it.
  ///
  /// Hot path.
  ///
  /// @param rows of the tile, the first of it
  /// @param width elements of a row
  /// @param rate what `rate` gave for this step
  void apply(UpdateTile tile, int rows, int width, float rate);
}
