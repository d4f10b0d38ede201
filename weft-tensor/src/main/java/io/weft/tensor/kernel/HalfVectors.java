// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/// The canonical NaNs of binary16 on vectors. Arithmetic stays on heap tiles, because the Vector
/// API has no fast conversion from binary16.
final class HalfVectors {

  private static final VectorSpecies<Short> SPECIES = ShortVector.SPECIES_PREFERRED;
  private static final long STEP = SPECIES.vectorByteSize();

  private HalfVectors() {}

  /// Makes the NaNs in `elements` elements from byte `offset` canonical, in place.
  static void canonical(MemorySegment data, long offset, int elements) {
    if (!data.isNative()) {
      HalfTiles.canonical(data, offset, elements);
      return;
    }
    long bytes = elements * 2L;
    long p = Runs.at(data, offset, bytes);
    long i = 0;
    try {
      for (long whole = bytes - bytes % STEP; i < whole; i += STEP) {
        ShortVector bits =
            ShortVector.fromMemorySegment(SPECIES, Runs.in(data), p + i, LITTLE_ENDIAN);
        ShortVector magnitude = bits.and((short) 0x7fff);
        bits.blend(
                (short) HalfPrecision.NAN_16,
                magnitude.compare(VectorOperators.GT, (short) HalfTiles.INFINITY))
            .intoMemorySegment(Runs.in(data), p + i, LITTLE_ENDIAN);
      }
    } finally {
      Reference.reachabilityFence(data); // the loop uses only the address
    }
    HalfTiles.canonicalScalar(data, offset + i, bytes - i);
  }
}
