// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads;

import io.weft.dataparallel.compress.Compression;
import java.util.Optional;

/// The option `--compression`.
final class CompressionFlag {

  static final String NAME = "--compression";
  static final String DESCRIPTION =
      "of gradients: none (default), fp16, bf16, int8, int4, or topk:RATIO; the residual of the"
          + " last three is added in the next step";

  private CompressionFlag() {}

  /// Parses the option. Throws `BadOption`.
  static Compression parse(Optional<String> given) {
    String text = given.orElse("none");
    try {
      return Compression.parse(text);
    } catch (IllegalArgumentException unknown) {
      throw BadOption.of(NAME, text, Compression.ALLOWED);
    }
  }
}
