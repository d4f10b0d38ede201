// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.frame;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/// A table's keys in the payload of a pull of several tables: the number of tables (8 bytes), and
/// for each table its id (8), the worker's clock (8), the number of keys (8) and the keys, 8 bytes
/// each, ascending and distinct. Pure.
///
/// @param table its id
/// @param clock of the worker
/// @param keys borrowed
public record TableKeys(long table, long clock, MemorySegment keys) {

  private static final int FIRST = 8;
  private static final int HEAD_BYTES = 24;

  /// Parses a payload and checks the fields that do not depend on tables. Throws
  /// `IllegalArgumentException` if it is invalid.
  public static List<TableKeys> read(MemorySegment payload) {
    long bytes = payload.byteSize();
    long count = bytes < FIRST ? -1 : payload.get(JAVA_LONG_UNALIGNED, 0);
    if (count < 1 || count > (bytes - FIRST) / HEAD_BYTES) {
      throw new IllegalArgumentException(
          "keys of %d tables in a payload of %d bytes".formatted(count, bytes));
    }
    List<TableKeys> all = new ArrayList<>((int) count);
    long at = FIRST;
    for (long i = 0; i < count; i++) {
      boolean fits = bytes - at >= HEAD_BYTES;
      long clock = fits ? payload.get(JAVA_LONG_UNALIGNED, at + 8) : -1;
      long keys = fits ? payload.get(JAVA_LONG_UNALIGNED, at + 16) : -1;
      if (clock < 0 || keys < 0 || keys > (bytes - at - HEAD_BYTES) / Long.BYTES) {
        throw new IllegalArgumentException(
            "table %d of %d with %d keys and clock %d at offset %d of a payload of %d bytes"
                .formatted(i, count, keys, clock, at, bytes));
      }
      all.add(
          new TableKeys(
              payload.get(JAVA_LONG_UNALIGNED, at),
              clock,
              payload.asSlice(at + HEAD_BYTES, Long.BYTES * keys)));
      at += HEAD_BYTES + Long.BYTES * keys;
    }
    if (at != bytes) {
      throw new IllegalArgumentException(
          "keys of %d tables in %d bytes of a payload of %d".formatted(count, at, bytes));
    }
    return all;
  }

  /// Returns a payload in the heap with these keys.
  public static MemorySegment write(List<TableKeys> all) {
    long bytes = FIRST;
    for (TableKeys each : all) {
      bytes += HEAD_BYTES + each.keys.byteSize();
    }
    MemorySegment payload = MemorySegment.ofArray(new byte[Math.toIntExact(bytes)]);
    payload.set(JAVA_LONG_UNALIGNED, 0, all.size());
    long at = FIRST;
    for (TableKeys each : all) {
      payload.set(JAVA_LONG_UNALIGNED, at, each.table);
      payload.set(JAVA_LONG_UNALIGNED, at + 8, each.clock);
      payload.set(JAVA_LONG_UNALIGNED, at + 16, each.keys.byteSize() / Long.BYTES);
      MemorySegment.copy(each.keys, 0, payload, at + HEAD_BYTES, each.keys.byteSize());
      at += HEAD_BYTES + each.keys.byteSize();
    }
    return payload;
  }
}
