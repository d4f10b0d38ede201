// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.peer;

import java.util.List;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;

/// The columns of requests and replies over Arrow Flight.
final class FlightSchema {

  static final String KEY = "key";
  static final String ROW = "row";

  /// The kind of a stream whose requests push rows.
  static final String PUSH = "push";

  /// The kind of a stream whose requests pull rows.
  static final String PULL = "pull";

  private FlightSchema() {}

  static Schema keys() {
    return new Schema(List.of(key()));
  }

  static Schema rows(int width) {
    return new Schema(List.of(row(width)));
  }

  static Schema both(int width) {
    return new Schema(List.of(key(), row(width)));
  }

  private static Field key() {
    return new Field(KEY, FieldType.notNullable(new ArrowType.Int(64, true)), null);
  }

  private static Field row(int width) {
    return new Field(ROW, FieldType.notNullable(new ArrowType.FixedSizeBinary(4 * width)), null);
  }
}
