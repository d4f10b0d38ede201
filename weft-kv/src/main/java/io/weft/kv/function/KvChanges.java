// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.function;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;

/// The built-in changes.
public final class KvChanges {

  private KvChanges() {}

  /// Returns the change that multiplies all values. Throws `IllegalArgumentException` if `factor`
  /// is not finite.
  public static KvChange scale(float factor) {
    return new Scale(factor);
  }

  /// Returns the change that adds `factor` times the values of another table, y += a x, for each
  /// row, value or element of that table. Both tables must have the same kind, width and slicer.
  /// The parts of tensors must be on the same shards (`Slicer.Parts.coLocatedWith`). Throws
  /// `IllegalArgumentException` if `factor` is not finite.
  public static KvChange axpy(float factor, String x) {
    Objects.requireNonNull(x, "x");
    return new Axpy(factor, x);
  }

  /// Returns one instance of each change, for lookup by name on servers.
  public static List<KvChange> all() {
    return List.of(scale(1), axpy(1, ""));
  }

  private static void requireFinite(String name, float factor) {
    if (!Float.isFinite(factor)) {
      throw new IllegalArgumentException(name + " by " + factor + ", which is not finite");
    }
  }

  private static float[] times(float factor, MemorySegment values) {
    float[] product = values.toArray(JAVA_FLOAT_UNALIGNED);
    for (int i = 0; i < product.length; i++) {
      product[i] *= factor;
    }
    return product;
  }

  private static float factor(String name, ByteBuffer argument) {
    try {
      float factor = argument.getFloat();
      requireFinite(name, factor);
      return factor;
    } catch (BufferUnderflowException few) {
      throw new IllegalArgumentException("an argument of less than 4 bytes", few);
    }
  }

  private record Scale(float factor) implements KvChange {

    Scale {
      requireFinite("scale", factor);
    }

    @Override
    public String name() {
      return "scale";
    }

    @Override
    public byte[] argument() {
      return ByteBuffer.allocate(Float.BYTES).putFloat(factor).array();
    }

    @Override
    public void run(ShardChanges shard, byte[] argument) {
      float by = KvChanges.factor(name(), ByteBuffer.wrap(argument));
      shard.forEach((at, values) -> shard.assign(at, MemorySegment.ofArray(times(by, values))));
    }
  }

  private record Axpy(float factor, String x) implements KvChange {

    Axpy {
      requireFinite("axpy", factor);
    }

    @Override
    public String name() {
      return "axpy";
    }

    @Override
    public byte[] argument() {
      byte[] words = x.getBytes(StandardCharsets.UTF_8);
      return ByteBuffer.allocate(Float.BYTES + words.length).putFloat(factor).put(words).array();
    }

    @Override
    public void run(ShardChanges shard, byte[] argument) {
      ByteBuffer given = ByteBuffer.wrap(argument);
      float by = KvChanges.factor(name(), given);
      ShardValues other =
          CoPartitioning.table(shard, StandardCharsets.UTF_8.decode(given).toString());
      other.forEach((at, values) -> shard.add(at, MemorySegment.ofArray(times(by, values))));
    }
  }
}
