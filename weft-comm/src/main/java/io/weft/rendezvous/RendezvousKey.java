// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous;

/// One tensor: an edge in one iteration of one step. Published once and received once.
///
/// @param edge what it travels along
/// @param step number that all ranks share; each step has its own. Later steps have higher numbers
/// @param frame of a loop, 0 outside
/// @param iteration of that loop, 0 outside
public record RendezvousKey(Edge edge, long step, long frame, long iteration) {

  /// Throws `IllegalArgumentException` for a negative step.
  public RendezvousKey {
    if (step < 0) {
      throw new IllegalArgumentException("step " + step + " of edge " + edge + " is negative");
    }
  }

  /// Outside of loops.
  public static RendezvousKey of(Edge edge, long step) {
    return new RendezvousKey(edge, step, 0, 0);
  }

  /// `source;incarnation;destination;name;frame:iteration of step n`.
  @Override
  public String toString() {
    return edge + ";" + frame + ":" + iteration + " of step " + step;
  }
}
