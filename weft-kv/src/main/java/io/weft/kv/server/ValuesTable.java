// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import io.weft.kv.frame.Finite;
import io.weft.kv.frame.KvHead;
import io.weft.kv.frame.KvHead.Values;
import io.weft.kv.frame.KvOp;
import io.weft.kv.frame.ValueList;
import io.weft.kv.function.ShardValues.ValuesVisitor;
import io.weft.kv.spec.TableSpec;
import io.weft.kv.table.ValueTable;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// One shard's values of any length of a table. A push is kept and forwarded as the whole payload,
/// because the payload contains keys and lengths. Confined to the shard's thread.
final class ValuesTable extends KeyedTable {

  private final ValueTable values;

  /// Throws `IllegalArgumentException` for an invalid specification.
  ValuesTable(TableSpec spec, ShardContext context) {
    super(spec, context);
    this.values = new ValueTable(spec, context.memory().budget());
  }

  /// The keys and lengths of one request.
  private record Listed(ValueList list) implements Subject {
    @Override
    public long valueBytes() {
      return Float.BYTES * (list.asksLengths() ? list.count() : list.floats());
    }
  }

  @Override
  Subject subject(KvHead head, MemorySegment payload) throws Refusal {
    if (head.values() != Values.FLOAT32) {
      throw new Refusal("values as " + head.values() + "; they travel as FLOAT32");
    }
    boolean pushes = head.op() != KvOp.PULL;
    if (head.op() == KvOp.WAIT || head.op() == KvOp.WHY) {
      return new Listed(new ValueList(true, 0, 0, payload));
    }
    try {
      return new Listed(ValueList.read(payload, pushes));
    } catch (IllegalArgumentException wrong) {
      throw new Refusal(String.valueOf(wrong.getMessage()));
    }
  }

  /// Returns the whole payload, and fixes the lengths of its keys' values.
  @Override
  MemorySegment values(KvHead head, Subject subject, MemorySegment payload) throws Refusal {
    ValueList list = ((Listed) subject).list();
    try {
      for (int i = 0; i < list.count(); i++) {
        values.checkLength(list.key(i), list.length(i));
      }
      if (spec().checks() == TableSpec.Checks.FINITE) {
        checkFinite(list);
      }
      for (int i = 0; i < list.count(); i++) {
        values.reserve(list.key(i), list.length(i));
      }
    } catch (IllegalArgumentException wrong) {
      throw new Refusal(String.valueOf(wrong.getMessage()));
    }
    return payload;
  }

  private static void checkFinite(ValueList list) throws Refusal {
    long at = Finite.firstOther(list.values());
    if (at < 0) {
      return;
    }
    int key = 0;
    long before = 0;
    while (before + list.length(key) <= at) {
      before += list.length(key);
      key++;
    }
    throw new Refusal(
        "value %s of key %d, float %d, is not finite; this shard has not applied the push"
            .formatted(list.value(at), list.key(key), at - before));
  }

  @Override
  void apply(Subject subject, MemorySegment payload, long clock) {
    ValueList list = listOf(payload);
    nextStep();
    values.use(rule(clock));
    long at = list.valuesAt();
    for (int i = 0; i < list.count(); i++) {
      values.update(list.key(i), payload, at, step());
      at += (long) Float.BYTES * list.length(i);
    }
  }

  /// Parses a payload that was checked on arrival and may have been copied since.
  private static ValueList listOf(MemorySegment payload) {
    return ValueList.read(payload, true);
  }

  @Override
  void applyAll(List<KeptPush> pushes, long clock) {
    if (pushes.size() == 1) {
      apply(pushes.getFirst().subject(), pushes.getFirst().values(), clock);
      return;
    }
    Map<Long, float[]> sums = new LinkedHashMap<>();
    for (KeptPush each : pushes) {
      ValueList list = listOf(each.values());
      long at = 0;
      for (int i = 0; i < list.count(); i++) {
        int length = list.length(i);
        float[] sum = sums.get(list.key(i));
        boolean first = sum == null;
        if (sum == null) {
          sum = new float[length];
          sums.put(list.key(i), sum);
        }
        for (int j = 0; j < length; j++) {
          float value = list.value(at + j);
          sum[j] = first ? value : sum[j] + value;
        }
        at += length;
      }
    }
    nextStep();
    values.use(rule(clock));
    sums.forEach((key, sum) -> values.update(key, MemorySegment.ofArray(sum), 0, step()));
  }

  @Override
  void read(Subject subject, MemorySegment into) throws Refusal {
    ValueList list = ((Listed) subject).list();
    if (list.asksLengths()) {
      for (int i = 0; i < list.count(); i++) {
        into.setAtIndex(JAVA_INT_UNALIGNED, i, values.length(list.key(i)));
      }
      return;
    }
    long at = 0;
    try {
      for (int i = 0; i < list.count(); i++) {
        values.read(list.key(i), list.length(i), into, at);
        at += (long) Float.BYTES * list.length(i);
      }
    } catch (IllegalArgumentException wrong) {
      throw new Refusal(String.valueOf(wrong.getMessage()));
    }
  }

  @Override
  ValueTable storage() {
    return values;
  }

  @Override
  void forEach(ValuesVisitor visitor) {
    values.forEach((key, used, floats) -> visitor.values(key, floats));
  }

  @Override
  void put(long at, MemorySegment floats, How how) {
    int length = Math.toIntExact(floats.byteSize() / Float.BYTES);
    values.reserve(at, length);
    MemorySegment value = floats;
    if (how == How.ADD) {
      MemorySegment there = MemorySegment.ofArray(new float[length]);
      values.read(at, length, there, 0);
      value = sum(there, floats);
    }
    values.assign(at, value, step());
  }

  @Override
  int keyCount(Subject subject) {
    return 0;
  }

  @Override
  void writeKeys(Subject subject, MemorySegment into) {}
}
