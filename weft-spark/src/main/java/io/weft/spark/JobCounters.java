// SPDX-License-Identifier: Apache-2.0
package io.weft.spark;

import java.io.Serializable;
import org.apache.spark.SparkContext;
import org.apache.spark.util.LongAccumulator;

/// The accumulators of a job, in which its tasks count. Executors send their values to the driver
/// with each heartbeat and at the end of each task.
///
/// @param examples the examples of all ranks
/// @param steps the steps of all ranks
/// @param loss the loss in the current epoch
/// @param bytesSent the bytes that ranks have sent to other ranks or read in their memory
record JobCounters(
    LongAccumulator examples,
    LongAccumulator steps,
    LossAccumulator loss,
    LongAccumulator bytesSent)
    implements Serializable {

  /// Returns new accumulators, which Spark's stage page shows by name.
  static JobCounters register(SparkContext spark) {
    var loss = new LossAccumulator();
    spark.register(loss, "weft loss");
    return new JobCounters(
        spark.longAccumulator("weft examples"),
        spark.longAccumulator("weft steps of all ranks"),
        loss,
        spark.longAccumulator("weft bytes sent"));
  }
}
