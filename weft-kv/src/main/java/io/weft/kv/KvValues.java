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

/// A worker's view of a table of values of any length by 64-bit key (ps-lite's `lens`). A key's
/// value keeps the length of its first push. A push or pull of another length is refused with the
/// key and the expected and actual lengths. Keys may come in any order, each once in a call. Values
/// are 32-bit floats, stored contiguously in the order of the keys. They are copied when sent and
/// received, and their memory is borrowed until the handle is done. Any thread.
///
/// Handles fail like those of `KvTable`.
public final class KvValues extends KvObject {

  private final ValueRequests requests;

  KvValues(WorkerLinks links, TableSpec spec) {
    this(new ValueRequests(links, spec), spec);
  }

  private KvValues(ValueRequests requests, TableSpec spec) {
    super(spec, requests.clock());
    this.requests = requests;
  }

  /// Pushes a value for each key. In a synchronous table each push begins the worker's next clock,
  /// as in `KvTable`.
  ///
  /// @param lengths the length of each key's value in floats, at least 1
  public Handle<Void> push(long[] keys, int[] lengths, MemorySegment values)
      throws InterruptedException {
    checkValues(keys, lengths, values);
    return requests.send(KvOp.PUSH, keys.clone(), lengths.clone(), values, null);
  }

  /// Pushes the values of an array.
  public Handle<Void> push(long[] keys, int[] lengths, float[] values) throws InterruptedException {
    return push(keys, lengths, MemorySegment.ofArray(values));
  }

  /// Pulls the values of keys whose lengths are known. A key without a value yields its initial
  /// values. In a synchronous table the pull sees all pushes up to this worker's clock.
  public Handle<Void> pull(long[] keys, int[] lengths, MemorySegment into)
      throws InterruptedException {
    check(BorrowedMemory.PLACE, keys, lengths, into);
    return requests.send(KvOp.PULL, keys.clone(), lengths.clone(), null, into);
  }

  /// Pulls values into an array.
  public Handle<Void> pull(long[] keys, int[] lengths, float[] into) throws InterruptedException {
    return pull(keys, lengths, MemorySegment.ofArray(into));
  }

  /// Pushes values and pulls the values that result. Both may be the same memory.
  public Handle<Void> pushPull(long[] keys, int[] lengths, MemorySegment values, MemorySegment into)
      throws InterruptedException {
    check(BorrowedMemory.PLACE, keys, lengths, into);
    checkValues(keys, lengths, values);
    return requests.send(KvOp.PUSH_PULL, keys.clone(), lengths.clone(), values, into);
  }

  /// Returns the lengths of these keys' values in floats, 0 for a key without a value.
  public Handle<int[]> lengths(long... keys) throws InterruptedException {
    return requests.lengths(keys.clone());
  }

  /// Pulls the values of these keys after a request for their lengths. Waits for each of the two
  /// requests, at most until the deadline.
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
    check(BorrowedMemory.VALUES, keys, lengths, values);
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

  private void check(BorrowedMemory what, long[] keys, int[] lengths, MemorySegment memory) {
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
