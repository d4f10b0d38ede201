// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import io.weft.tensor.TensorView;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.tensorflow.Operand;
import org.tensorflow.Result;
import org.tensorflow.Session;

/// A fingerprint of weights. Fingerprints are equal exactly if the weights are equal bit for bit.
public final class WeightsDigest {

  private static final int TILE_BYTES = 1 << 16;

  private WeightsDigest() {}

  /// Returns the SHA-256, in lower-case hexadecimal, of name, element type, shape and bytes of
  /// these values, in the order of their names and independent of the list's order. A value is a
  /// reference variable or the read op of a resource variable. Runs the session once.
  public static String of(Session session, List<? extends Operand<?>> values) {
    List<? extends Operand<?>> ordered =
        values.stream()
            .sorted(Comparator.comparing(value -> value.asOutput().op().name()))
            .toList();
    Session.Runner runner = session.runner();
    for (Operand<?> value : ordered) {
      runner.fetch(value);
    }
    SortedMap<String, TensorView> named = new TreeMap<>();
    if (ordered.isEmpty()) {
      return of(named);
    }
    try (Result result = runner.run()) {
      for (int i = 0; i < ordered.size(); i++) {
        named.put(ordered.get(i).asOutput().op().name(), TensorViews.of(result.get(i)));
      }
      return of(named);
    }
  }

  /// Returns the same digest of values in memory, keyed by the names of their nodes.
  public static String of(SortedMap<String, TensorView> values) {
    MessageDigest digest = sha256();
    values.forEach((name, value) -> update(digest, name, value));
    return HexFormat.of().formatHex(digest.digest());
  }

  private static void update(MessageDigest digest, String name, TensorView value) {
    digest.update((name + ' ' + value.signature() + '\n').getBytes(StandardCharsets.UTF_8));
    byte[] tile = new byte[TILE_BYTES];
    for (long at = 0; at < value.bytes(); at += TILE_BYTES) {
      int bytes = (int) Math.min(TILE_BYTES, value.bytes() - at);
      MemorySegment.copy(value.data(), ValueLayout.JAVA_BYTE, at, tile, 0, bytes);
      digest.update(tile, 0, bytes);
    }
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}
