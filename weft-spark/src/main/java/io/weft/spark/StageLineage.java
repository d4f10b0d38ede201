// SPDX-License-Identifier: Apache-2.0
package io.weft.spark;

import java.util.ArrayDeque;
import java.util.Deque;
import org.apache.spark.Dependency;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.rdd.RDD;
import scala.jdk.javaapi.CollectionConverters;

/// The datasets from which a stage computes its partitions, back to the last shuffles.
final class StageLineage {

  private StageLineage() {}

  /// Returns whether all of them have as many partitions as `data`. Spark refuses barrier stages in
  /// which, for example, a union or a coalesce changes the number.
  static boolean isUniform(RDD<?> data) {
    int partitions = data.getNumPartitions();
    Deque<RDD<?>> left = new ArrayDeque<>();
    left.add(data);
    while (!left.isEmpty()) {
      RDD<?> next = left.remove();
      if (next.getNumPartitions() != partitions) {
        return false;
      }
      for (Dependency<?> dependency : CollectionConverters.asJava(next.dependencies())) {
        if (!(dependency instanceof ShuffleDependency<?, ?, ?>)) {
          left.add(dependency.rdd());
        }
      }
    }
    return true;
  }
}
