// SPDX-License-Identifier: Apache-2.0
package io.weft.djl;

import io.weft.tensor.TensorView;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.SortedMap;

/// A fingerprint of weights, as `weft train` reports it.
final class WeightsFingerprint {

  private WeightsFingerprint() {}

  /// Returns the SHA-256, in lower-case hexadecimal, of name, element type, shape and bytes of
  /// these weights.
  static String of(SortedMap<String, TensorView> weights) {
    MessageDigest digest;
    try {
      digest = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
    weights.forEach(
        (name, value) -> {
          digest.update((name + ' ' + value.signature() + '\n').getBytes(StandardCharsets.UTF_8));
          digest.update(value.data().asByteBuffer());
        });
    return HexFormat.of().formatHex(digest.digest());
  }
}
