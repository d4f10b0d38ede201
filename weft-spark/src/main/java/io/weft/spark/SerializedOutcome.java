// SPDX-License-Identifier: Apache-2.0
package io.weft.spark;

import java.nio.ByteBuffer;
import org.apache.spark.SparkEnv;
import org.apache.spark.serializer.SerializerInstance;
import scala.reflect.ClassTag$;

/// Outcomes as bytes, by the serializer that Spark uses for programs: the one that an application
/// chooses for its data may not know records.
final class SerializedOutcome {

  private SerializedOutcome() {}

  /// Returns the bytes of an outcome. If a result cannot be serialized, they are those of a failure
  /// of the rank.
  static byte[] write(int rank, RankOutcome outcome) {
    try {
      return bytes(outcome);
    } catch (Exception unserializable) { // Scala declares no checked exceptions
      return bytes(
          new RankOutcome.Failed(
              rank,
              "the result of rank " + rank + " cannot be serialized: " + unserializable,
              unserializable.toString()));
    }
  }

  private static byte[] bytes(RankOutcome outcome) {
    ByteBuffer buffer =
        serializer().serialize(outcome, ClassTag$.MODULE$.<RankOutcome>apply(RankOutcome.class));
    byte[] bytes = new byte[buffer.remaining()];
    buffer.get(bytes);
    return bytes;
  }

  static RankOutcome read(byte[] bytes) {
    return serializer()
        .deserialize(
            ByteBuffer.wrap(bytes),
            Thread.currentThread().getContextClassLoader(),
            ClassTag$.MODULE$.<RankOutcome>apply(RankOutcome.class));
  }

  private static SerializerInstance serializer() {
    return SparkEnv.get().closureSerializer().newInstance();
  }
}
