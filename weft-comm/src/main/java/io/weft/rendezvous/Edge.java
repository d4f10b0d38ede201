// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous;

import java.nio.charset.StandardCharsets;

/// What one tensor after the other travels along: an edge of a graph that was cut between two
/// ranks. Make it once and use it for every step.
///
/// @param source world rank that produces
/// @param incarnation of the source: both sides must have the same, so that what a producer that
///   was started anew publishes is not taken for its predecessor's
/// @param destination world rank that consumes, perhaps the source
/// @param name of the edge, at most `MAX_NAME_BYTES` in UTF-8; with the devices where a rank has
///   several
public record Edge(int source, long incarnation, int destination, String name) {

  /// Longest name in bytes.
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
