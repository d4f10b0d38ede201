// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.frame;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.weft.tensor.quantize.Quantizer;
import java.lang.foreign.MemorySegment;

/// The head of a request to a shard, `BYTES` long, little-endian (docs/protocol/kv.md).
///
/// @param op the operation
/// @param target the shard and its content that the request is for
/// @param progress of the worker
/// @param listed the list of keys
/// @param values the format of values
public record KvHead(KvOp op, Target target, Progress progress, Listed listed, Values values) {

  /// Creates a head with FLOAT32 values.
  public KvHead(KvOp op, Target target, Progress progress, Listed listed) {
    this(op, target, progress, listed, Values.FLOAT32);
  }

  /// The shard and the content that a request is for.
  ///
  /// @param shard the shard's number
  /// @param table its id; 0 = none
  /// @param part of a tensor
  /// @param ring version of the shard's replica set that determined the destination
  public record Target(int shard, long table, int part, int ring) {

    /// Creates a target without a part, in the initial replica set.
    public Target(int shard, long table) {
      this(shard, table, 0, 0);
    }
  }

  /// The progress of a worker.
  ///
  /// @param number of a push or change, counted by its worker for each shard from 1; 0 = neither
  /// @param settled the worker has completed all pushes below this number
  /// @param clock of the worker
  public record Progress(long number, long settled, long clock) {

    /// The progress of a worker that has not begun.
    public static final Progress NONE = new Progress(0, 0, 0);
  }

  /// The list of keys of a request.
  ///
  /// @param keys the location of the keys
  /// @param count the number of keys in the list
  /// @param digestHigh of the list of keys
  /// @param digestLow of the list of keys
  public record Listed(Keys keys, int count, long digestHigh, long digestLow) {

    /// The list of a request without keys.
    public static final Listed NONE = new Listed(Keys.NONE, 0, 0, 0);
  }

  /// The length of a head.
  public static final int BYTES = 76;

  /// The version of the layout.
  static final short VERSION = 3;

  private static final KvOp[] OPS = KvOp.values();
  private static final Keys[] KEYS = Keys.values();
  private static final Values[] VALUES = Values.values();

  /// The location of a request's keys.
  public enum Keys {
    /// The request has no keys.
    NONE(0),
    /// In the payload, before the values.
    INLINE(1),
    /// In the payload, and the shard should keep them.
    KEPT(2),
    /// Kept by the shard and identified by the digest.
    NAMED(3);

    private final byte code;

    Keys(int code) {
      this.code = (byte) code;
    }
  }

  /// The format of values.
  public enum Values {
    /// 4 bytes each.
    FLOAT32(0, 32),
    /// 2 bytes each. A server adds them in 32 bits, and rounds its answers to nearest even.
    FLOAT16(1, 16),
    /// 1 byte each and a scale for each block, in the format of `Quantizer`; for pushes only.
    INT8(2, 8),
    /// 4 bits each and a scale for each block.
    INT4(3, 4),
    /// 2 bits each and a scale for each block.
    INT2(4, 2);

    private final byte code;
    private final int bits;

    Values(int code, int bits) {
      this.code = (byte) code;
      this.bits = bits;
    }

    /// Returns the bits of a value.
    public int bits() {
      return bits;
    }

    /// Returns whether the values are whole numbers with scales.
    public boolean isQuantized() {
      return bits < 16;
    }

    /// Returns the bytes of `elements` values that begin at the start of a block.
    public long bytes(long elements) {
      return isQuantized() ? new Quantizer(bits).bytes(elements) : bits / 8 * elements;
    }
  }

  /// Returns the shard's number.
  public int shard() {
    return target.shard;
  }

  /// Returns the table's id; 0 = none.
  public long table() {
    return target.table;
  }

  /// Returns the part of a tensor.
  public int part() {
    return target.part;
  }

  /// Returns the version of the replica set that determined the destination.
  public int ring() {
    return target.ring;
  }

  /// Returns the number of a push or change; 0 = neither.
  public long number() {
    return progress.number;
  }

  /// Returns the number below which the worker has completed all pushes.
  public long settled() {
    return progress.settled;
  }

  /// Returns the worker's clock.
  public long clock() {
    return progress.clock;
  }

  /// Returns the location of the keys.
  public Keys keys() {
    return listed.keys;
  }

  /// Returns the number of keys.
  public int count() {
    return listed.count;
  }

  /// Returns the first half of the keys' digest.
  public long digestHigh() {
    return listed.digestHigh;
  }

  /// Returns the second half of the keys' digest.
  public long digestLow() {
    return listed.digestLow;
  }

  /// Writes the head to the beginning of `to`.
  ///
  /// Hot path.
  public void write(MemorySegment to) {
    to.set(JAVA_BYTE, 0, op.code());
    to.set(JAVA_BYTE, 1, listed.keys.code);
    to.set(JAVA_BYTE, 2, (byte) VERSION);
    to.set(JAVA_BYTE, 3, values.code);
    to.set(JAVA_INT_UNALIGNED, 4, target.shard);
    to.set(JAVA_LONG_UNALIGNED, 8, target.table);
    to.set(JAVA_LONG_UNALIGNED, 16, progress.number);
    to.set(JAVA_LONG_UNALIGNED, 24, progress.settled);
    to.set(JAVA_LONG_UNALIGNED, 32, progress.clock);
    to.set(JAVA_LONG_UNALIGNED, 40, listed.digestHigh);
    to.set(JAVA_LONG_UNALIGNED, 48, listed.digestLow);
    to.set(JAVA_INT_UNALIGNED, 56, listed.count);
    to.set(JAVA_INT_UNALIGNED, 60, target.part);
    to.set(JAVA_INT_UNALIGNED, 64, target.ring);
    to.set(JAVA_LONG_UNALIGNED, 68, 0L);
  }

  /// Parses a head. Throws `IllegalArgumentException` if it is invalid. The shard checks the fields
  /// that depend on the table.
  public static KvHead read(MemorySegment from) {
    if (from.byteSize() != BYTES) {
      throw new IllegalArgumentException(
          "a head of " + from.byteSize() + " bytes, expected " + BYTES);
    }
    int op = from.get(JAVA_BYTE, 0);
    int keys = from.get(JAVA_BYTE, 1);
    int version = from.get(JAVA_BYTE, 2);
    int values = from.get(JAVA_BYTE, 3);
    if (version != VERSION) {
      throw new IllegalArgumentException(
          "version " + version + " of the protocol, expected " + VERSION);
    }
    if (op < 0 || op >= OPS.length || keys < 0 || keys >= KEYS.length) {
      throw new IllegalArgumentException("operation " + op + " with keys " + keys);
    }
    if (values < 0 || values >= VALUES.length) {
      throw new IllegalArgumentException("values of type " + values);
    }
    var head =
        new KvHead(
            OPS[op],
            new Target(
                from.get(JAVA_INT_UNALIGNED, 4),
                from.get(JAVA_LONG_UNALIGNED, 8),
                from.get(JAVA_INT_UNALIGNED, 60),
                from.get(JAVA_INT_UNALIGNED, 64)),
            new Progress(
                from.get(JAVA_LONG_UNALIGNED, 16),
                from.get(JAVA_LONG_UNALIGNED, 24),
                from.get(JAVA_LONG_UNALIGNED, 32)),
            new Listed(
                KEYS[keys],
                from.get(JAVA_INT_UNALIGNED, 56),
                from.get(JAVA_LONG_UNALIGNED, 40),
                from.get(JAVA_LONG_UNALIGNED, 48)),
            VALUES[values]);
    head.check();
    return head;
  }

  private void check() {
    int shard = target.shard;
    int part = target.part;
    int ring = target.ring;
    int count = listed.count;
    long number = progress.number;
    long settled = progress.settled;
    if (shard < 0 || count < 0 || part < 0 || progress.clock < 0 || ring < 0) {
      throw new IllegalArgumentException(
          "shard %d, %d keys, part %d, clock %d, ring %d: none may be negative"
              .formatted(shard, count, part, progress.clock, ring));
    }
    if (number < 0 || settled < 0 || settled > number || (number > 0) != op.isNumbered()) {
      throw new IllegalArgumentException(
          "%s with number %d, those below %d settled".formatted(op, number, settled));
    }
    if (values.isQuantized() && op != KvOp.PUSH) {
      throw new IllegalArgumentException(
          "%s with values of %d bits; they can be pushed only".formatted(op, values.bits()));
    }
    if (listed.keys == Keys.NONE && count != 0) {
      throw new IllegalArgumentException(count + " keys without a location");
    }
  }
}
