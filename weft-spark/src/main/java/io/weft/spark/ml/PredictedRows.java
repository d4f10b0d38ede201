// SPDX-License-Identifier: Apache-2.0
package io.weft.spark.ml;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;

/// The rows of a partition with their predictions, computed batch by batch as they are read. One
/// thread.
final class PredictedRows implements Iterator<Row> {

  private static final int BATCH = 256;

  private final Iterator<Row> rows;
  private final Predictor predictor;
  private final RowReader reader;
  private final int column;
  private final List<Row> ready = new ArrayList<>();
  private int next;

  /// @param column the position of the features
  PredictedRows(Iterator<Row> rows, Predictor predictor, RowReader reader, int column) {
    this.rows = rows;
    this.predictor = predictor;
    this.reader = reader;
    this.column = column;
  }

  @Override
  public boolean hasNext() {
    return next < ready.size() || rows.hasNext();
  }

  @Override
  public Row next() {
    if (next == ready.size()) {
      predict();
    }
    if (next == ready.size()) {
      throw new NoSuchElementException("the partition has no more rows");
    }
    return ready.get(next++);
  }

  private void predict() {
    List<Row> batch = new ArrayList<>();
    float[] features = new float[0];
    int width = 0;
    while (batch.size() < BATCH && rows.hasNext()) {
      Row row = rows.next();
      float[] values = reader.features(row, column);
      if (batch.isEmpty()) {
        width = values.length;
        features = new float[Math.multiplyExact(BATCH, width)];
      } else if (values.length != width) {
        throw new IllegalArgumentException(
            "a row has %d features and an earlier one %d; all rows must have equally many"
                .formatted(values.length, width));
      }
      System.arraycopy(values, 0, features, batch.size() * width, width);
      batch.add(row);
    }
    ready.clear();
    next = 0;
    if (batch.isEmpty()) {
      return;
    }
    float[] used = java.util.Arrays.copyOf(features, batch.size() * width);
    float[] outputs = predictor.outputs(used, batch.size());
    int each = outputs.length / batch.size();
    for (int i = 0; i < batch.size(); i++) {
      ready.add(with(batch.get(i), prediction(outputs, i * each, each)));
    }
  }

  private static double prediction(float[] outputs, int from, int count) {
    if (count == 1) {
      return outputs[from];
    }
    int best = 0;
    for (int i = 1; i < count; i++) {
      best = outputs[from + i] > outputs[from + best] ? i : best;
    }
    return best;
  }

  private static Row with(Row row, double prediction) {
    Object[] values = new Object[row.size() + 1];
    for (int i = 0; i < row.size(); i++) {
      values[i] = row.get(i);
    }
    values[row.size()] = prediction;
    return RowFactory.create(values);
  }
}
