// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim.network;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/// What is wrong with the network at present: ways that are cut, ways that are slow.
public final class Weather {

  private final List<Wall> walls = new ArrayList<>();
  private final List<Fog> fogs = new ArrayList<>();

  Weather() {}

  /// Bytes of these ranks do not reach those; what is sent waits until the wall is gone.
  ///
  /// @param from ranks
  /// @param to ranks
  public record Wall(BitSet from, BitSet to) {

    boolean stands(int fromRank, int toRank) {
      return from.get(fromRank) && to.get(toRank);
    }
  }

  /// What one rank sends another needs so much longer.
  ///
  /// @param from rank
  /// @param to rank
  /// @param nanos more than usual
  public record Fog(int from, int to, long nanos) {}

  void raise(Wall wall) {
    walls.add(wall);
  }

  void remove(Wall wall) {
    walls.remove(wall);
  }

  /// The fog comes.
  public void thicken(Fog fog) {
    fogs.add(fog);
  }

  /// The fog goes.
  public void clear(Fog fog) {
    fogs.remove(fog);
  }

  boolean blocks(int fromRank, int toRank) {
    for (int i = 0; i < walls.size(); i++) {
      if (walls.get(i).stands(fromRank, toRank)) {
        return true;
      }
    }
    return false;
  }

  long extraNanos(int fromRank, int toRank) {
    long extra = 0;
    for (int i = 0; i < fogs.size(); i++) {
      Fog fog = fogs.get(i);
      if (fog.from == fromRank && fog.to == toRank) {
        extra += fog.nanos;
      }
    }
    return extra;
  }
}
