// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import io.weft.comm.Handle;
import io.weft.kv.frame.Finite;
import io.weft.kv.frame.KvHead.Values;
import io.weft.kv.frame.KvOp;
import io.weft.kv.spec.TableSpec;
import io.weft.kv.worker.ValueRequests;
import io.weft.kv.worker.WorkerLinks;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/// A table of values of any length by 64-bit key as a worker sees it (ps-lite's `lens`). A key's
/// value keeps the length of its first push; a push or pull of another length is refused with key,
/// expected and actual. Keys come in any order, each once in a call; values are 32-bit floats, one
/// behind the other in the order of the keys. They are copied on their way; memory is borrowed
/// until the handle is done. Any thread.
///
/// Handles fail as those of `KvTable` do.
public final class KvValues extends KvStored {

  private final ValueRequests requests;

  KvValues(WorkerLinks links, TableSpec spec) {
    this(new ValueRequests(links, spec), spec);
  }

  private KvValues(ValueRequests requests, TableSpec spec) {
    super(spec, requests.clock());
    this.requests = requests;
  }

  /// Pushes a value for each key. In a synchronous table this is the worker's next clock: every
  /// worker pushes as often, and what all have pushed is applied at once.
  ///
  /// @param lengths floats of each key's value, at least 1
  public Handle<Void> push(long[] keys, int[] lengths, MemorySegment values)
      throws InterruptedException {
    checkValues(keys, lengths, values);
    return requests.send(KvOp.PUSH, keys.clone(), lengths.clone(), values, null);
  }

  /// The same of an array.
  public Handle<Void> push(long[] keys, int[] lengths, float[] values) throws InterruptedException {
    return push(keys, lengths, MemorySegment.ofArray(values));
  }

  /// Pulls the values of keys whose lengths are known. A key without a value gives its initial
  /// values. In a synchronous table it sees all pushes up to this worker's clock.
  public Handle<Void> pull(long[] keys, int[] lengths, MemorySegment into)
      throws InterruptedException {
    check(LentMemory.PLACE, keys, lengths, into);
    return requests.send(KvOp.PULL, keys.clone(), lengths.clone(), null, into);
  }

  /// The same into an array.
  public Handle<Void> pull(long[] keys, int[] lengths, float[] into) throws InterruptedException {
    return pull(keys, lengths, MemorySegment.ofArray(into));
  }

  /// Pushes, and pulls what there is then. Both may be the same memory.
  public Handle<Void> pushPull(long[] keys, int[] lengths, MemorySegment values, MemorySegment into)
      throws InterruptedException {
    check(LentMemory.PLACE, keys, lengths, into);
    checkValues(keys, lengths, values);
    return requests.send(KvOp.PUSH_PULL, keys.clone(), lengths.clone(), values, into);
  }

  /// How many floats the values of these keys have; 0 of a key without a value.
  public Handle<int[]> lengths(long... keys) throws InterruptedException {
    return requests.lengths(keys.clone());
  }

  /// The values of these keys, whatever their lengths: asks for those first. Waits for both, at
  /// most the deadline each.
  public KvPairs pull(long... keys) throws InterruptedException {
    int[] lengths = lengths(keys).await();
    int there = (int) Arrays.stream(lengths).filter(it -> it > 0).count();
    long[] found = new long[there];
    int[] its = new int[there];
    int filled = 0;
    for (int i = 0; i < keys.length; i++) {
      if (lengths[i] > 0) {
        found[filled] = keys[i];
        its[filled++] = lengths[i];
      }
    }
    float[] values = new float[Math.toIntExact(floats(its))];
    var unused = pull(found, its, values).await();
    return new KvPairs(keys.clone(), lengths, values);
  }

  private static long floats(int[] lengths) {
    return Arrays.stream(lengths).asLongStream().sum();
  }

  private void checkValues(long[] keys, int[] lengths, MemorySegment values) {
    check(LentMemory.VALUES, keys, lengths, values);
    long at = spec().checks() == TableSpec.Checks.FINITE ? Finite.firstOther(values) : -1;
    if (at >= 0) {
      int key = 0;
      long before = 0;
      while (before + lengths[key] <= at) {
        before += lengths[key];
        key++;
      }
      throw new IllegalArgumentException(
          "table '%s': value %s of key %d, float %d, is not finite; nothing was pushed"
              .formatted(
                  spec().name(), Finite.text(values, at, Values.FLOAT32), keys[key], at - before));
    }
  }

  private void check(LentMemory what, long[] keys, int[] lengths, MemorySegment memory) {
    if (lengths.length != keys.length) {
      throw new IllegalArgumentException(
          "table '%s': %d lengths for %d keys"
              .formatted(spec().name(), lengths.length, keys.length));
    }
    for (int i = 0; i < keys.length; i++) {
      if (lengths[i] < 1 || lengths[i] > spec().width()) {
        throw new IllegalArgumentException(
            "table '%s': key %d with a value of %d floats; this table has values of 1 to %d"
                .formatted(spec().name(), keys[i], lengths[i], spec().width()));
      }
    }
    long expected = Float.BYTES * floats(lengths);
    if (memory.byteSize() != expected) {
      throw new IllegalArgumentException(
          "table '%s': %s of %d bytes for %d keys with %d floats, expected %d"
              .formatted(
                  spec().name(),
                  what,
                  memory.byteSize(),
                  keys.length,
                  expected / Float.BYTES,
                  expected));
    }
    what.check(spec(), memory);
  }
}
