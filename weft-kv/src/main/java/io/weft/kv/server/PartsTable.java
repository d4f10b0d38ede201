// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;

import io.weft.kv.checkpoint.ShardFile.Content;
import io.weft.kv.frame.Finite;
import io.weft.kv.frame.KvHead;
import io.weft.kv.frame.KvHead.Values;
import io.weft.kv.function.ShardValues.ValuesVisitor;
import io.weft.kv.spec.TableSpec;
import io.weft.kv.spec.TensorParts;
import io.weft.kv.table.TensorPart;
import io.weft.kv.table.TensorTable;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.kernel.Kernels;
import io.weft.tensor.quantize.Quantizer;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// One shard's parts of a dense tensor. Each is created when it is first used. Confined to the
/// shard's thread.
final class PartsTable extends ShardTable {

  private final TensorTable tensor;
  private final TensorParts cut;
  private final Map<Integer, Part> parts = new HashMap<>();

  /// The rounds of the existing parts and, once a checkpoint has begun, of all parts of this shard.
  private final Map<Integer, PushRounds<KeptPush>> rounds = new HashMap<>();

  private final Halves conversion = new Halves();

  /// The buffer in which compressed pushes are decoded.
  private MemorySegment floats = MemorySegment.NULL;

  /// Throws `IllegalArgumentException` for an invalid specification.
  PartsTable(TableSpec spec, ShardContext context) {
    super(spec, context);
    this.tensor = new TensorTable(spec, context.memory().budget());
    this.cut = tensor.cut();
  }

  private static final class Part {
    private final int index;
    private final TensorPart values;
    private final PushRounds<KeptPush> rounds;
    private long step;
    private boolean initialized;

    Part(int index, TensorPart values, PushRounds<KeptPush> rounds) {
      this.index = index;
      this.values = values;
      this.rounds = rounds;
    }
  }

  /// A part and the format of a request's values.
  private record OfPart(Part part, Values format) implements Subject {
    @Override
    public long valueBytes() {
      return format.bytes(part.values.elements());
    }
  }

  private static Part ofPart(Subject subject) {
    return ((OfPart) subject).part();
  }

  @Override
  Subject subject(KvHead head, MemorySegment payload) throws Refusal {
    if (head.keys() != KvHead.Keys.NONE) {
      throw new Refusal(head.count() + " keys of a tensor, which has none");
    }
    return new OfPart(atIndex(head.part()), head.values());
  }

  /// Returns the part of an index. It is created if it does not exist.
  private Part atIndex(int index) throws Refusal {
    if (index >= cut.count()) {
      throw new Refusal("part %d of %d".formatted(index, cut.count()));
    }
    return part(index);
  }

  private Part part(int index) {
    Part part = parts.get(index);
    if (part == null) {
      part = new Part(index, tensor.part(index), roundsOf(index));
      parts.put(index, part);
    }
    return part;
  }

  @Override
  void complete(int shard) {
    for (int index = 0; index < cut.count(); index++) {
      if (cut.shard(index, context().shards()) == shard) {
        PushRounds<KeptPush> unused = roundsOf(index);
      }
    }
  }

  private PushRounds<KeptPush> roundsOf(int index) {
    PushRounds<KeptPush> its = rounds.get(index);
    if (its == null) {
      its = newRounds();
      rounds.put(index, its);
    }
    return its;
  }

  @Override
  MemorySegment values(KvHead head, Subject subject, MemorySegment payload) throws Refusal {
    Part part = ofPart(subject);
    if (payload.byteSize() != subject.valueBytes()) {
      throw new Refusal(
          "part %d has %d elements, as %s %d bytes, not %d; do all workers use the same length?"
              .formatted(
                  part.index,
                  part.values.elements(),
                  head.values(),
                  subject.valueBytes(),
                  payload.byteSize()));
    }
    MemorySegment values =
        head.values() == Values.FLOAT32 ? payload : decoded(head.values(), part, payload);
    if (spec().checks() == TableSpec.Checks.FINITE) {
      long at = Finite.firstOther(values);
      if (at >= 0) {
        throw new Refusal(
            "value %s of element %d is not finite; this shard has not applied the push"
                .formatted(
                    values.getAtIndex(JAVA_FLOAT_UNALIGNED, at), cut.begin(part.index) + at));
      }
    }
    return values;
  }

  private MemorySegment decoded(Values format, Part part, MemorySegment encoded) {
    long elements = part.values.elements();
    if (floats.byteSize() < 4 * elements) {
      long bytes = 4 * cut.elements(0);
      context()
          .memory()
          .budget()
          .reserve("table '" + spec().name() + "'", bytes - floats.byteSize());
      floats = Arena.ofAuto().allocate(bytes, 64);
    }
    MemorySegment into = floats.asSlice(0, 4 * elements);
    if (format.isQuantized()) {
      new Quantizer(format.bits()).dequantize(encoded, 0, into, 0, elements, Quantizer.Into.COPY);
    } else {
      conversion.widen(encoded, into, elements);
    }
    return into;
  }

  /// A part that already has its first values keeps them, because the request was repeated or the
  /// part was restored.
  @Override
  boolean init(Pending it) throws Refusal {
    Subject subject = subject(it.head(), it.payload());
    Part part = ofPart(subject);
    if (part.initialized) {
      return true;
    }
    if (it.worker() > 0) {
      if (clocks().hasLeft(0)) {
        throw new Refusal(
            "rank %d, whose first values count, has left".formatted(context().workers().get(0)));
      }
      return false;
    }
    if (part.step > 0) {
      throw new Refusal("part " + part.index + " was pushed to before its first values came");
    }
    MemorySegment values = values(it.head(), subject, it.payload());
    tensor.beforeChange(part.index);
    part.values.assign(0, part.values.elements(), values, 0);
    part.initialized = true;
    return true;
  }

  @Override
  PushRounds<KeptPush> rounds(Subject subject) {
    return ofPart(subject).rounds;
  }

  @Override
  List<PushRounds<KeptPush>> allRounds() {
    return List.copyOf(rounds.values());
  }

  @Override
  void apply(Subject subject, MemorySegment values, long clock) {
    Part part = ofPart(subject);
    tensor.beforeChange(part.index);
    part.step++;
    part.values.use(rule(clock));
    part.values.update(0, part.values.elements(), values, 0, part.step);
  }

  @Override
  void applyAll(List<KeptPush> pushes, long clock) {
    KeptPush first = pushes.getFirst();
    MemorySegment sum = first.values();
    for (KeptPush each : pushes.subList(1, pushes.size())) {
      Kernels.reducer(DType.FLOAT32, ReduceOp.SUM)
          .reduce(sum, 0, each.values(), 0, sum.byteSize() / 4);
    }
    apply(first.subject(), sum, clock);
  }

  @Override
  void read(Subject subject, MemorySegment into) {
    Part part = ofPart(subject);
    if (((OfPart) subject).format() == Values.FLOAT32) {
      part.values.read(0, part.values.elements(), into, 0);
    } else {
      conversion.narrow(part.values, into);
    }
  }

  @Override
  Content contentAfter(String base) {
    return Content.FULL;
  }

  @Override
  TensorTable storage() {
    return tensor;
  }

  @Override
  void forEach(ValuesVisitor visitor) {
    parts.values().forEach(it -> visitor.values(cut.begin(it.index), it.values.view()));
  }

  @Override
  void beginChange() {}

  @Override
  void put(long at, MemorySegment values, How how) {
    long elements = values.byteSize() / Float.BYTES;
    Part part = parts.get(Math.toIntExact(at / cut.slicer().elements()));
    long first = part == null ? 0 : at - cut.begin(part.index);
    if (at < 0 || part == null || first + elements > part.values.elements()) {
      throw new IllegalArgumentException(
          "%d elements from %d on are not in one part that is here".formatted(elements, at));
    }
    MemorySegment stretch = values;
    if (how == How.ADD) {
      MemorySegment there = MemorySegment.ofArray(new float[Math.toIntExact(elements)]);
      part.values.read(first, elements, there, 0);
      stretch = sum(there, values);
    }
    tensor.beforeChange(part.index);
    part.values.assign(first, elements, stretch, 0);
  }

  @Override
  int keyCount(Subject subject) {
    return 0;
  }

  @Override
  void writeKeys(Subject subject, MemorySegment into) {}

  @Override
  int part(Subject subject) {
    return ofPart(subject).index;
  }

  @Override
  void states(StateVisitor visitor) {
    for (Part each : parts.values()) {
      visitor.state(each.index, each.initialized, each.step, each.rounds);
    }
  }

  @Override
  void take(int index, long clock, long step, boolean initialized) throws Refusal {
    Part part = atIndex(index);
    part.step = step;
    part.initialized = initialized;
    part.rounds.begin(clock);
  }

  @Override
  void restored(int index, long clock) {
    if (tensor.find(index) != null) {
      part(index).initialized = true;
    }
  }

  @Override
  long step() {
    return parts.values().stream().mapToLong(it -> it.step).max().orElse(0);
  }

  @Override
  void step(long atLeast) {
    parts.values().forEach(it -> it.step = Math.max(it.step, atLeast));
  }
}
