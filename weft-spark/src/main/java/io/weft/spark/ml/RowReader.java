// SPDX-License-Identifier: Apache-2.0
package io.weft.spark.ml;

import java.io.Serial;
import java.io.Serializable;
import java.util.List;
import org.apache.spark.ml.linalg.SQLDataTypes;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.NumericType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/// Reads features, label and weight of rows as numbers, and refuses those that a network cannot
/// learn from. Immutable.
final class RowReader implements Serializable {

  @Serial private static final long serialVersionUID = 1L;

  private final String features;
  private final int classes;

  /// @param features name of the column of features, for messages
  /// @param classes the number of classes, or 0 if labels are any numbers
  RowReader(String features, int classes) {
    this.features = features;
    this.classes = classes;
  }

  /// Returns the type of a column. Throws `IllegalArgumentException` with the columns that exist if
  /// it is missing.
  static DataType type(StructType schema, String column, String param) {
    for (StructField field : schema.fields()) {
      if (field.name().equals(column)) {
        return field.dataType();
      }
    }
    throw new IllegalArgumentException(
        "%s names column '%s', which the data does not have; its columns are %s"
            .formatted(param, column, String.join(", ", schema.fieldNames())));
  }

  /// Throws `IllegalArgumentException` unless the column has vectors, arrays of numbers or numbers.
  static void requireFeatures(StructType schema, String column) {
    DataType type = type(schema, column, "featuresCol");
    boolean array = type instanceof ArrayType list && list.elementType() instanceof NumericType;
    if (!array && !(type instanceof NumericType) && !type.equals(SQLDataTypes.VectorType())) {
      throw new IllegalArgumentException(
          "column '%s' of features has type %s; it must have vectors, arrays of numbers, or numbers"
              .formatted(column, type.simpleString()));
    }
  }

  /// Throws `IllegalArgumentException` unless the column has numbers.
  static void requireNumbers(StructType schema, String column, String param) {
    DataType type = type(schema, column, param);
    if (!(type instanceof NumericType)) {
      throw new IllegalArgumentException(
          "column '%s' of %s has type %s; it must have numbers"
              .formatted(column, param, type.simpleString()));
    }
  }

  /// Returns the features of a row. Throws `IllegalArgumentException` if they are null, empty, or
  /// not finite.
  float[] features(Row row, int at) {
    if (row.isNullAt(at)) {
      throw new IllegalArgumentException(
          "column '"
              + features
              + "' is null in a row; remove such rows, for example by na().drop()");
    }
    float[] values =
        switch (row.get(at)) {
          case Vector vector -> narrowed(vector.toArray());
          case Number number -> new float[] {number.floatValue()};
          default -> ofList(row.getList(at));
        };
    for (int i = 0; i < values.length; i++) {
      if (!Float.isFinite(values[i])) {
        throw new IllegalArgumentException(
            "column '%s' has %s as feature %d of a row; features must be finite numbers"
                .formatted(features, values[i], i));
      }
    }
    if (values.length == 0) {
      throw new IllegalArgumentException("column '" + features + "' is empty in a row");
    }
    return values;
  }

  private static float[] narrowed(double[] values) {
    float[] narrow = new float[values.length];
    for (int i = 0; i < values.length; i++) {
      narrow[i] = (float) values[i];
    }
    return narrow;
  }

  private float[] ofList(List<?> list) {
    float[] values = new float[list.size()];
    for (int i = 0; i < values.length; i++) {
      if (!(list.get(i) instanceof Number number)) {
        throw new IllegalArgumentException(
            "column '%s' has null as feature %d of a row; features must be finite numbers"
                .formatted(features, i));
      }
      values[i] = number.floatValue();
    }
    return values;
  }

  /// Returns the label of a row. Throws `IllegalArgumentException` if it is null, not finite, or
  /// not a class.
  float label(Row row, int at) {
    if (row.isNullAt(at)) {
      throw new IllegalArgumentException("the label of a row is null; remove such rows");
    }
    double label = ((Number) row.get(at)).doubleValue();
    boolean known =
        classes == 0
            ? Double.isFinite(label)
            : label >= 0 && label < classes && label == Math.rint(label);
    if (!known) {
      throw new IllegalArgumentException(
          classes == 0
              ? "the label " + label + " of a row is not a finite number"
              : "the label %s of a row is none of the %d classes 0 to %d; index labels by a StringIndexer, or set classes"
                  .formatted(label, classes, classes - 1));
    }
    return (float) label;
  }

  /// Returns the weight of a row. Throws `IllegalArgumentException` if it is null, negative or not
  /// finite.
  static float weight(Row row, int at) {
    double weight = row.isNullAt(at) ? Double.NaN : ((Number) row.get(at)).doubleValue();
    if (!(weight >= 0) || Double.isInfinite(weight)) {
      throw new IllegalArgumentException(
          "the weight of a row is "
              + (row.isNullAt(at) ? "null" : weight)
              + "; weights must be finite and not negative");
    }
    return (float) weight;
  }
}
