// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.fuzz;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;

/// One decoder of foreign bytes for the fuzzer. A `FuzzContract` lists the targets. A target is
/// public and has a public constructor without parameters, which must be cheap. One loader
/// instruments the target and all classes below `io.weft` that it uses. Therefore a target in the
/// decoder's package can access package-private members.
public interface FuzzTarget {

  /// The length of the longest input in bytes.
  int MAX_INPUT_BYTES = 4096;

  /// Returns seeds or dictionary words from text in UTF-8.
  static List<byte[]> texts(String... texts) {
    return Stream.of(texts).map(text -> text.getBytes(StandardCharsets.UTF_8)).toList();
  }

  /// Returns the name of the target and of the directory of its corpus, in lower case with dashes.
  String name();

  /// Returns well-formed inputs for the start, at least one.
  List<byte[]> seeds();

  /// Returns bytes with a meaning for the decoder, such as magic numbers and words.
  default List<byte[]> dictionary() {
    return List.of();
  }

  /// Returns the limit in bytes on the heap that the decoder and the target allocate for one input.
  default long allocationLimit() {
    return 16L << 20;
  }

  /// Passes one input, which is not changed later, to the decoder. Returns if the decoder accepts
  /// or refuses it as documented, and throws any other exception of the decoder. It must be
  /// deterministic. One thread calls it very frequently.
  void decode(byte[] input) throws Exception;
}
