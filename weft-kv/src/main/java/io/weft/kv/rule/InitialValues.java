// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.rule;

/// The values of a row before any push: a function of the table's seed, the row's key and the
/// column. They do not depend on the row's shard or on the order in which rows are created.
/// Immutable; any thread.
public abstract sealed class InitialValues {

  private static final long STEP = 0x9E3779B97F4A7C15L;
  private static final float FRACTION = 0x1p-24f;

  private InitialValues() {}

  /// Returns zeros.
  public static InitialValues zero() {
    return new Constant(0);
  }

  /// Parses a text of initial values:
  ///
  /// | text | parameters and defaults | values |
  /// |---|---|---|
  /// | `zero` | | 0 |
  /// | `constant` | `value=0` | all equal to `value` |
  /// | `uniform` | `low=-0.05`, `high=0.05` | uniformly distributed from `low` to below `high` |
  /// | `normal` | `mean=0`, `stddev=0.05` | normally distributed |
  /// | `xavier` | `in` and `out`: the width | uniform within ±sqrt(6 / (in + out)) [GLOROT10 §4.2] |
  ///
  /// Throws `IllegalArgumentException` with the allowed texts.
  ///
  /// @param width of a row, in elements
  public static InitialValues parse(String text, int width) {
    var p = new RuleParameters("initial values", text);
    InitialValues values =
        switch (p.name()) {
          case "zero" -> zero();
          case "constant" -> new Constant(p.number("value", 0, -Float.MAX_VALUE));
          case "uniform" -> {
            float low = p.number("low", -0.05f, -Float.MAX_VALUE);
            float high = p.number("high", 0.05f, -Float.MAX_VALUE);
            if (!(low < high && Float.isFinite(high - low))) {
              throw p.wrong("low is " + low + ", but must be less than high, which is " + high);
            }
            yield new Uniform(low, high - low);
          }
          case "normal" ->
              new Normal(p.number("mean", 0, -Float.MAX_VALUE), p.number("stddev", 0.05f, 0));
          case "xavier" -> {
            float in = p.positive("in", width);
            float limit = (float) Math.sqrt(6.0 / (in + p.positive("out", width)));
            yield new Uniform(-limit, 2 * limit);
          }
          default -> throw p.wrong("unknown; there are zero, constant, uniform, normal, xavier");
        };
    p.end();
    return values;
  }

  /// Returns whether all values are 0, as in newly allocated memory.
  public final boolean isZero() {
    return this instanceof Constant constant && Float.floatToRawIntBits(constant.value) == 0;
  }

  /// Returns the seed for `fill`: a hash of `seed` and the table's name, so that values differ
  /// between tables and between seeds.
  public static long seed(long seed, String table) {
    long sum = mix(seed + STEP);
    for (int i = 0; i < table.length(); i++) {
      sum = mix((sum ^ table.charAt(i)) + STEP);
    }
    return sum;
  }

  /// Writes the values of the row of `key` to `into` from `at`.
  ///
  /// Hot path.
  ///
  /// @param seed the result of `seed` for the table
  public final void fill(long seed, long key, float[] into, int at, int width) {
    fill(mix(seed ^ mix(key + STEP)), into, at, width);
  }

  abstract void fill(long row, float[] into, int at, int width);

  /// The finalizer of SplitMix (STEELE14), a bijection in which each input bit affects all output
  /// bits.
  private static long mix(long bits) {
    long z = (bits ^ (bits >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }

  private static long column(long row, int column) {
    return mix(row + (column + 1) * STEP);
  }

  private static final class Constant extends InitialValues {
    private final float value;

    private Constant(float value) {
      this.value = value;
    }

    @Override
    void fill(long row, float[] into, int at, int width) {
      for (int i = 0; i < width; i++) {
        into[at + i] = value;
      }
    }
  }

  private static final class Uniform extends InitialValues {
    private final float low;
    private final float range;

    private Uniform(float low, float range) {
      this.low = low;
      this.range = range;
    }

    @Override
    void fill(long row, float[] into, int at, int width) {
      for (int i = 0; i < width; i++) {
        into[at + i] = low + range * ((column(row, i) >>> 40) * FRACTION);
      }
    }
  }

  /// Normally distributed values by the Box-Muller transform. `StrictMath` makes the bits equal on
  /// all machines.
  private static final class Normal extends InitialValues {
    private final float mean;
    private final float deviation;

    private Normal(float mean, float deviation) {
      this.mean = mean;
      this.deviation = deviation;
    }

    @Override
    void fill(long row, float[] into, int at, int width) {
      for (int i = 0; i < width; i++) {
        long bits = column(row, i);
        double radius = Math.sqrt(-2 * StrictMath.log(((bits >>> 32) + 1) * 0x1p-32));
        double angle = (bits & 0xFFFFFFFFL) * 0x1p-32 * 2 * Math.PI;
        into[at + i] = (float) (mean + deviation * radius * StrictMath.cos(angle));
      }
    }
  }
}
