// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.frame;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.weft.kv.frame.KvHead.Values;
import io.weft.kv.server.ReplicasNotice;
import io.weft.kv.spec.Replicas;
import io.weft.kv.spec.TableSpec;
import io.weft.kv.table.MemoryBudget;
import io.weft.kv.table.TableSink;
import io.weft.kv.table.TableSnapshot;
import io.weft.kv.table.ValueTable;
import io.weft.qa.fuzz.FuzzTarget;
import io.weft.tensor.quantize.Quantizer;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.List;

/// The frames between workers and shards of a parameter server. The first byte selects the frame: a
/// push of few bits with its format, count of elements and values; values of any length as a
/// payload, in a checkpoint and to a mirror; replica sets of servers; or the keys of several
/// tables.
public final class KvFramesTarget implements FuzzTarget {

  /// Creates the target. The fuzzer calls this constructor by reflection.
  public KvFramesTarget() {}

  @Override
  public String name() {
    return "kv-frames";
  }

  @Override
  public List<byte[]> seeds() {
    byte[] head = new byte[1 + KvHead.BYTES];
    new KvHead(
            KvOp.PUSH_PULL,
            new KvHead.Target(1, 2, 9, 0),
            new KvHead.Progress(4, 3, 5),
            new KvHead.Listed(KvHead.Keys.KEPT, 8, 6, 7))
        .write(MemorySegment.ofArray(head).asSlice(1));
    byte[] text = KvReply.refused("no table \u2603").encode().toArray(JAVA_BYTE);
    byte[] reply = new byte[1 + text.length];
    reply[0] = 1;
    System.arraycopy(text, 0, reply, 1, text.length);
    byte[] quantized = {2, 2, 9, 0, 0, 0, 0, 0, 0, 1, 2, 3};
    byte[] pairs = ValueList.write(new long[] {3, 9}, new int[] {1, 2}, 3).toArray(JAVA_BYTE);
    byte[] values = new byte[1 + pairs.length];
    values[0] = 4;
    System.arraycopy(pairs, 0, values, 1, pairs.length);
    byte[] stored = new byte[1 + 2 * (int) ValueTable.exportedBytes(2, 1)];
    stored[0] = 6;
    for (int at = 1; at < stored.length; at += stored.length / 2) {
      stored[at] = (byte) at; // the key
      stored[at + 12] = 2; // the length
    }
    byte[] ring = " 3 4 0:12 2:7".getBytes(StandardCharsets.UTF_8);
    ring[0] = 8;
    var keys = new TableKeys(7, 3, MemorySegment.ofArray(new long[] {-1, 5}));
    byte[] payload = TableKeys.write(List.of(keys, keys)).toArray(JAVA_BYTE);
    byte[] tables = new byte[1 + payload.length];
    tables[0] = 10;
    System.arraycopy(payload, 0, tables, 1, payload.length);
    return List.of(head, reply, quantized, values, stored, ring, tables);
  }

  @Override
  public void decode(byte[] input) {
    if (input.length == 0) {
      return;
    }
    MemorySegment bytes = MemorySegment.ofArray(input).asSlice(1);
    try {
      if (input[0] == 2) {
        decodeQuantized(bytes);
      } else if (input[0] == 4) {
        decodeValues(bytes);
      } else if (input[0] == 6) {
        decodeStored(bytes);
      } else if (input[0] == 8) {
        decodeRing(ReplicasNotice.text(bytes));
      } else if (input[0] == 10) {
        if (TableKeys.write(TableKeys.read(bytes)).mismatch(bytes) >= 0) {
          throw new AssertionError("read back differently: keys of tables");
        }
      } else if ((input[0] & 1) == 0) {
        KvHead head = KvHead.read(bytes);
        MemorySegment again = MemorySegment.ofArray(new byte[KvHead.BYTES]);
        head.write(again);
        if (!KvHead.read(again).equals(head)) {
          throw new AssertionError("read back differently: " + head);
        }
      } else {
        KvReply reply = KvReply.read(bytes);
        KvReply again = KvReply.read(reply.encode());
        if (again.status() != reply.status()
            || again.applied() != reply.applied()
            || !again.text().equals(reply.text())
            || again.values().mismatch(reply.values()) >= 0) {
          throw new AssertionError("read back differently: " + reply);
        }
      }
    } catch (IllegalArgumentException refused) {
      if (refused.getMessage() == null) {
        throw new AssertionError("no message", refused);
      }
    }
  }

  private static void decodeRing(String text) {
    Replicas first = new Replicas(List.of(0, 1, 2, 3), 2);
    Replicas ring = first.after(text);
    if (!first.after(ring.text()).equals(ring)) {
      throw new AssertionError("read back differently: " + ring);
    }
  }

  private static void decodeValues(MemorySegment bytes) {
    boolean pushes = bytes.byteSize() % 2 == 0;
    ValueList list = ValueList.read(bytes, pushes);
    int[] lengths = new int[list.count()];
    long[] keys = new long[list.count()];
    long floats = 0;
    for (int i = 0; i < keys.length; i++) {
      keys[i] = list.key(i);
      lengths[i] = list.asksLengths() ? 0 : list.length(i);
      floats += lengths[i];
    }
    MemorySegment again =
        list.asksLengths()
            ? ValueList.ask(keys)
            : ValueList.write(keys, lengths, pushes ? floats : 0);
    if (pushes) {
      again.asSlice(list.valuesAt()).copyFrom(list.values());
    }
    if (floats != list.floats() || again.mismatch(bytes) >= 0) {
      throw new AssertionError("read back differently: " + list);
    }
  }

  /// Checks that a stored table can be read, written and read by another table.
  private static void decodeStored(MemorySegment bytes) {
    TableSpec spec = TableSpec.values("v", 100).withRule("momentum");
    var budget = new MemoryBudget(4 << 20);
    var out = new ByteArrayOutputStream();
    TableSink sink =
        (from, at, count) -> out.writeBytes(from.asSlice(at, count).toArray(JAVA_BYTE));
    try (var table = new ValueTable(spec, budget);
        var other = new ValueTable(spec, budget)) {
      table.load(0, 0, bytes);
      try (TableSnapshot all = table.snapshot(0, sink)) {
        if (!all.advance(Integer.MAX_VALUE) || out.size() > bytes.byteSize()) {
          throw new AssertionError(out.size() + " bytes of " + bytes.byteSize());
        }
      }
      other.load(0, 0, MemorySegment.ofArray(out.toByteArray()));
      if (other.statistics().rows() != table.statistics().rows()) {
        throw new AssertionError(other.statistics() + ", not " + table.statistics());
      }
    }
    if (budget.usedBytes() != 0) {
      throw new AssertionError(budget.usedBytes() + " bytes are not given back");
    }
  }

  private static void decodeQuantized(MemorySegment bytes) {
    if (bytes.byteSize() < 3) {
      return;
    }
    Values[] all = Values.values();
    Values format = all[Math.floorMod(bytes.get(JAVA_BYTE, 0), all.length)];
    int elements = Short.toUnsignedInt(bytes.get(JAVA_SHORT_UNALIGNED, 1));
    MemorySegment payload = bytes.asSlice(3);
    if (!format.isQuantized() || payload.byteSize() != format.bytes(elements)) {
      return; // A shard refuses it before it decodes.
    }
    var quantizer = new Quantizer(format.bits());
    MemorySegment values = MemorySegment.ofArray(new float[elements]);
    quantizer.dequantize(payload, 0, values, 0, elements, Quantizer.Into.COPY);
    MemorySegment none = MemorySegment.ofArray(new float[elements]);
    MemorySegment left = MemorySegment.ofArray(new float[elements]);
    MemorySegment again = MemorySegment.ofArray(new byte[(int) payload.byteSize()]);
    if (quantizer.quantize(values, none, left, elements, again, 0) >= 0) {
      return; // not finite
    }
    quantizer.dequantize(again, 0, left, 0, elements, Quantizer.Into.COPY);
    for (int i = 0; i < elements; i++) {
      float value = left.getAtIndex(JAVA_FLOAT_UNALIGNED, i);
      if (!Float.isFinite(value)) {
        throw new AssertionError("element %d is read back as %s".formatted(i, value));
      }
    }
  }
}
