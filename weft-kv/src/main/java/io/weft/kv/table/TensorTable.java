// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

import io.weft.kv.rule.InitialValues;
import io.weft.kv.rule.UpdateRule;
import io.weft.kv.rule.UpdateRules;
import io.weft.kv.spec.Slicer;
import io.weft.kv.spec.TableSpec;
import io.weft.kv.spec.TableStatistics;
import io.weft.kv.spec.TensorParts;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// One shard's parts of a dense tensor. Each is created when it is first used. A place of a
/// snapshot is a block of a part. Confined to one thread.
public final class TensorTable implements TableStorage {

  private static final int BLOCK_BYTES = 256 << 10;

  private final String name;
  private final TensorParts cut;
  private final UpdateRule rule;
  private final InitialValues initial;
  private final long seed;
  private final MemoryBudget budget;
  private final Map<Integer, TensorPart> parts = new HashMap<>();

  /// The indices of the parts, in the order of their creation.
  private final List<Integer> order = new ArrayList<>();

  private final TableSnapshot.Open snapshots = new TableSnapshot.Open();

  /// Creates a tensor without parts. Throws `IllegalArgumentException` for an invalid
  /// specification.
  public TensorTable(TableSpec spec, MemoryBudget budget) {
    this.name = spec.name();
    this.cut = TensorParts.of(spec);
    this.rule = UpdateRules.parse(spec.rule());
    if (rule.rowSlots() > 0) {
      throw new IllegalArgumentException(
          "update rule '" + spec.rule() + "' is for rows of tables; a tensor has none");
    }
    int width = (int) Math.min(Integer.MAX_VALUE, spec.width());
    this.initial = InitialValues.parse(spec.initial().values(), width);
    this.seed = InitialValues.seed(spec.initial().seed(), name);
    this.budget = Objects.requireNonNull(budget, "budget");
  }

  /// Returns the division of the tensor into parts.
  public TensorParts cut() {
    return cut;
  }

  /// Returns the part of an index, or null if it does not exist.
  public @Nullable TensorPart find(int index) {
    return parts.get(index);
  }

  /// Returns the part of an index, which is created with its initial values if it does not exist.
  /// Throws `IllegalArgumentException` for an index of no part, and `MemoryBudgetException`.
  public TensorPart part(int index) {
    TensorPart part = parts.get(index);
    if (part == null) {
      if (index < 0 || index >= cut.count()) {
        throw new IllegalArgumentException("part %d of %d".formatted(index, cut.count()));
      }
      part = new TensorPart(name + "', part '" + index, cut.elements(index), rule, budget);
      initialize(part, cut.begin(index));
      parts.put(index, part);
      boolean unused = order.add(index);
    }
    return part;
  }

  private void initialize(TensorPart part, long begin) {
    if (initial.isZero()) {
      return;
    }
    var block = new float[Slicer.Parts.BLOCK_ELEMENTS];
    MemorySegment from = MemorySegment.ofArray(block);
    for (long at = 0; at < part.elements(); at += block.length) {
      int count = (int) Math.min(block.length, part.elements() - at);
      initial.fill(seed, (begin + at) / block.length, block, 0, count);
      part.assign(at, count, from, 0);
    }
  }

  /// Prepares snapshots for the change of a part. The caller must then change the part at once.
  public void beforeChange(int index) {
    int position = snapshots.isEmpty() ? -1 : order.indexOf(index);
    for (int block = 0; position >= 0 && block < blocks(); block++) {
      snapshots.before(position * blocks() + block);
    }
  }

  /// Returns the number of blocks of each part but the last, which may have fewer.
  private int blocks() {
    long bytes = cut.elements(0) * Float.BYTES * (1 + rule.slots());
    return Math.toIntExact((bytes + BLOCK_BYTES - 1) / BLOCK_BYTES);
  }

  /// A tensor's snapshot has all existing parts. The others have their initial values.
  @Override
  public TableSnapshot snapshot(long since, TableSink sink) {
    Objects.requireNonNull(sink, "sink");
    int end = Math.multiplyExact(order.size(), blocks());
    return snapshots.begin(end, 1, place -> emit(place, sink));
  }

  private void emit(int place, TableSink sink) {
    int index = order.get(place / blocks());
    TensorPart part = part(index);
    long at = (long) (place % blocks()) * BLOCK_BYTES;
    if (at < part.bytes()) {
      byte[] content = new byte[(int) Math.min(BLOCK_BYTES, part.bytes() - at)];
      long count = part.export(at, MemorySegment.ofArray(content), 0);
      sink.elements(index, at, content, (int) count);
    }
  }

  @Override
  public void load(int index, long at, MemorySegment content) {
    if (content.byteSize() > 0) {
      TensorPart part = part(index);
      beforeChange(index);
      part.importBytes(at, content, 0, content.byteSize());
    }
  }

  @Override
  public TableStatistics statistics() {
    long bytes = parts.values().stream().mapToLong(TensorPart::bytes).sum();
    return new TableStatistics(
        order.size(), bytes, 0, order.size(), 0, 0, TableStatistics.Spilled.NONE);
  }

  @Override
  public void close() {
    parts.values().forEach(TensorPart::close);
  }
}
