// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.spec;

/// When a pull may be answered, as one number per table, and of how many workers a synchronous push
/// need not wait.
///
/// @param staleness 0: pushes of a clock are applied together, when all have come; N: a pull of
///   clock c waits until the slowest worker is at c - N [HCC13 §3]; `ASYNCHRONOUS`: nobody waits
/// @param backupWorkers how many workers may be missing when the pushes of a clock are applied
///   [CMB16 §3]; 0 unless `staleness` is 0
public record Consistency(int staleness, int backupWorkers) {

  /// Nobody waits.
  public static final int ASYNCHRONOUS = -1;

  /// Throws `IllegalArgumentException` with what is wrong.
  public Consistency {
    if (staleness < ASYNCHRONOUS || backupWorkers < 0 || (staleness != 0 && backupWorkers != 0)) {
      throw new IllegalArgumentException(
          "staleness "
              + staleness
              + " with "
              + backupWorkers
              + " backup workers; allowed: -1 or more, and backup workers only with 0");
    }
  }

  /// Pushes of a clock are applied together.
  public static Consistency synchronous() {
    return new Consistency(0, 0);
  }

  /// The same, without the last so many workers.
  public static Consistency backedUpBy(int workers) {
    return new Consistency(0, workers);
  }

  /// Nobody is more than so many clocks ahead of the slowest worker whose pushes he does not see.
  /// Throws `IllegalArgumentException` for less than 1.
  public static Consistency bounded(int clocks) {
    if (clocks < 1) {
      throw new IllegalArgumentException(
          "bounded(%d): 1 clock or more; synchronous() is for none, asynchronous() for no bound"
              .formatted(clocks));
    }
    return new Consistency(clocks, 0);
  }

  /// Nobody waits.
  public static Consistency asynchronous() {
    return new Consistency(ASYNCHRONOUS, 0);
  }

  /// Whether pushes of a clock are applied together.
  public boolean isSynchronous() {
    return staleness == 0;
  }

  String words() {
    if (staleness == ASYNCHRONOUS) {
      return "asynchronous";
    }
    if (staleness > 0) {
      return "bounded(" + staleness + ")";
    }
    return backupWorkers == 0 ? "synchronous" : "backedUpBy(" + backupWorkers + ")";
  }

  String text() {
    return staleness + "+" + backupWorkers;
  }

  static Consistency parse(String text) {
    int plus = text.indexOf('+');
    if (plus < 1) {
      throw new IllegalArgumentException("a consistency of '" + text + "'");
    }
    return new Consistency(
        Integer.parseInt(text.substring(0, plus)), Integer.parseInt(text.substring(plus + 1)));
  }
}
