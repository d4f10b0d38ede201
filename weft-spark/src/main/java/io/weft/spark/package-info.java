// SPDX-License-Identifier: Apache-2.0
/// Weft inside a Spark application: the tasks of one barrier stage are the ranks of a job.
///
/// ```java
/// List<Integer> ranks = WeftSpark.run(spark.sparkContext(), 2, rank -> rank.weft().rank());
/// ```
@NullMarked
package io.weft.spark;

import org.jspecify.annotations.NullMarked;
