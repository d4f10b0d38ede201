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
/// @param keys the location of the keys
/// @param shard the shard's number
/// @param table its id; 0 = none
/// @param number of a push or change, counted by its worker for each shard from 1; 0 = neither
/// @param settled the worker has completed all pushes below this number
/// @param clock of the worker
/// @param digestHigh of the list of keys
/// @param digestLow of the list of keys
/// @param count the number of keys in the list
/// @param part of a tensor
/// @param values the format of values
/// @param ring version of the shard's replica set that determined the destination
public record KvHead(
    KvOp op,
    Keys keys,
    int shard,
    long table,
    long number,
    long settled,
    long clock,
    long digestHigh,
    long digestLow,
    int count,
    int part,
    Values values,
    int ring) {

  /// Creates a head with the initial replica set.
  public KvHead(
      KvOp op,
      Keys keys,
      int shard,
      long table,
      long number,
      long settled,
      long clock,
      long digestHigh,
      long digestLow,
      int count,
      int part,
      Values values) {
    this(
        op,
        keys,
        shard,
        table,
        number,
        settled,
        clock,
        digestHigh,
        digestLow,
        count,
        part,
        values,
        0);
  }

  /// Creates a head with FLOAT32 values.
  public KvHead(
      KvOp op,
      Keys keys,
      int shard,
      long table,
      long number,
      long settled,
      long clock,
      long digestHigh,
      long digestLow,
      int count,
      int part) {
    this(
        op,
        keys,
        shard,
        table,
        number,
        settled,
        clock,
        digestHigh,
        digestLow,
        count,
        part,
        Values.FLOAT32);
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

  /// Writes the head to the beginning of `to`.
  ///
  /// Hot path.
  public void write(MemorySegment to) {
    to.set(JAVA_BYTE, 0, op.code());
    to.set(JAVA_BYTE, 1, keys.code);
    to.set(JAVA_BYTE, 2, (byte) VERSION);
    to.set(JAVA_BYTE, 3, values.code);
    to.set(JAVA_INT_UNALIGNED, 4, shard);
    to.set(JAVA_LONG_UNALIGNED, 8, table);
    to.set(JAVA_LONG_UNALIGNED, 16, number);
    to.set(JAVA_LONG_UNALIGNED, 24, settled);
    to.set(JAVA_LONG_UNALIGNED, 32, clock);
    to.set(JAVA_LONG_UNALIGNED, 40, digestHigh);
    to.set(JAVA_LONG_UNALIGNED, 48, digestLow);
    to.set(JAVA_INT_UNALIGNED, 56, count);
    to.set(JAVA_INT_UNALIGNED, 60, part);
    to.set(JAVA_INT_UNALIGNED, 64, ring);
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
            KEYS[keys],
            from.get(JAVA_INT_UNALIGNED, 4),
            from.get(JAVA_LONG_UNALIGNED, 8),
            from.get(JAVA_LONG_UNALIGNED, 16),
            from.get(JAVA_LONG_UNALIGNED, 24),
            from.get(JAVA_LONG_UNALIGNED, 32),
            from.get(JAVA_LONG_UNALIGNED, 40),
            from.get(JAVA_LONG_UNALIGNED, 48),
            from.get(JAVA_INT_UNALIGNED, 56),
            from.get(JAVA_INT_UNALIGNED, 60),
            VALUES[values],
            from.get(JAVA_INT_UNALIGNED, 64));
    head.check();
    return head;
  }

  private void check() {
    if (shard < 0 || count < 0 || part < 0 || clock < 0 || ring < 0) {
      throw new IllegalArgumentException(
          "shard %d, %d keys, part %d, clock %d, ring %d: none may be negative"
              .formatted(shard, count, part, clock, ring));
    }
    if (number < 0 || settled < 0 || settled > number || (number > 0) != op.isNumbered()) {
      throw new IllegalArgumentException(
          "%s with number %d, those below %d settled".formatted(op, number, settled));
    }
    if (values.isQuantized() && op != KvOp.PUSH) {
      throw new IllegalArgumentException(
          "%s with values of %d bits; they can be pushed only".formatted(op, values.bits()));
    }
    if (keys == Keys.NONE && count != 0) {
      throw new IllegalArgumentException(count + " keys without a location");
    }
  }
}
