// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.kv.spec.TableSpec;
import java.util.List;

/// One shard's part of a table by keys, with one clock and one step for all keys. Confined to the
/// shard's thread.
abstract sealed class KeyedTable extends ShardTable permits RowsTable, ValuesTable {

  private final PushRounds<KeptPush> rounds;
  private long step;
  private long restoredClock;

  KeyedTable(TableSpec spec, ShardContext context) {
    super(spec, context);
    this.rounds = newRounds();
  }

  @Override
  final PushRounds<KeptPush> rounds(Subject subject) {
    return rounds;
  }

  @Override
  final List<PushRounds<KeptPush>> allRounds() {
    return List.of(rounds);
  }

  @Override
  final void restored(int part, long clock) {
    restoredClock = Math.max(restoredClock, clock);
  }

  /// Returns whether a push to a synchronous table has arrived since its restore.
  final boolean hasPushes() {
    return rounds.begun() > restoredClock;
  }

  @Override
  final int part(Subject subject) {
    return 0;
  }

  @Override
  final void states(StateVisitor visitor) {
    visitor.state(0, false, step, rounds);
  }

  @Override
  final void take(int part, long clock, long atStep, boolean initialized) {
    step = atStep;
    rounds.begin(clock);
  }

  @Override
  final long step() {
    return step;
  }

  @Override
  final void step(long atLeast) {
    step = Math.max(step, atLeast);
  }

  final void nextStep() {
    step++;
  }

  @Override
  final void beginChange() {
    step++;
  }
}
