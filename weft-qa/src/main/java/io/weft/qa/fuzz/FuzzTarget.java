// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.fuzz;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;

/// One decoder of bytes that come from outside, as the fuzzer sees it. Named by a `FuzzContract`,
/// and public, with a public constructor without parameters, which must be cheap. What it calls
/// below `io.weft` is loaded anew, with counters, by the same loader as the target itself; so a
/// target in the decoder's package reaches what is package-private.
public interface FuzzTarget {

  /// Longest input, in bytes.
  int MAX_INPUT_BYTES = 4096;

  /// Seeds or words that are text, in UTF-8.
  static List<byte[]> texts(String... texts) {
    return Stream.of(texts).map(text -> text.getBytes(StandardCharsets.UTF_8)).toList();
  }

  /// Of the target, and of the directory that holds its corpus: lower case and dashes.
  String name();

  /// Well-formed inputs to start from; at least one.
  List<byte[]> seeds();

  /// Bytes that mean something to the decoder: magic numbers, words.
  default List<byte[]> dictionary() {
    return List.of();
  }

  /// Most heap that one input may make the decoder and the target allocate, in bytes.
  default long allocationLimit() {
    return 16L << 20;
  }

  /// Gives the decoder one input, which is not changed afterwards. Returns when it was accepted or
  /// refused as documented, throws anything else that came out. The same bytes always take the same
  /// way. One thread; called very often.
  void decode(byte[] input) throws Exception;
}
