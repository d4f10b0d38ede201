// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous;

import java.nio.charset.StandardCharsets;

/// An edge of a graph between the parts of two ranks. It carries one tensor per iteration of a
/// step. An edge should be created once and used for every step.
///
/// @param source the world rank that produces the tensors
/// @param incarnation the incarnation of the source. Both sides must use the same value, so that
///   tensors of a restarted producer are not confused with those of its predecessor
/// @param destination the world rank that consumes them, possibly the source
/// @param name the name of the edge, at most `MAX_NAME_BYTES` in UTF-8; it includes the devices if
///   a rank has several
public record Edge(int source, long incarnation, int destination, String name) {

  /// Maximum length of a name, in bytes.
  public static final int MAX_NAME_BYTES = 1024;

  /// Throws `IllegalArgumentException` for a negative rank or a name that is empty or too long.
  public Edge {
    if (source < 0 || destination < 0) {
      throw new IllegalArgumentException(
          "edge '"
              + name
              + "' from rank "
              + source
              + " to rank "
              + destination
              + ": ranks count from 0");
    }
    int bytes = name.getBytes(StandardCharsets.UTF_8).length;
    if (bytes == 0 || bytes > MAX_NAME_BYTES) {
      throw new IllegalArgumentException(
          "an edge's name has 1 to " + MAX_NAME_BYTES + " bytes, this one has " + bytes);
    }
  }

  /// `source;incarnation;destination;name`.
  @Override
  public String toString() {
    return source + ";" + Long.toHexString(incarnation) + ";" + destination + ";" + name;
  }
}
