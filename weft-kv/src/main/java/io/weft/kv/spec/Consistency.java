// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.spec;

/// The rule that decides when a pull may be answered, as one number per table, and the number of
/// workers that a synchronous push need not wait for.
///
/// @param staleness 0: the pushes of a clock are applied together, when all have arrived; N: a pull
///   of clock c waits until the slowest worker is at c - N [HCC13 §3]; `ASYNCHRONOUS`: no pull
///   waits
/// @param backupWorkers how many workers may be missing when the pushes of a clock are applied
///   [CMB16 §3]; 0 unless `staleness` is 0
public record Consistency(int staleness, int backupWorkers) {

  /// The staleness of a table whose pulls never wait.
  public static final int ASYNCHRONOUS = -1;

  /// Throws `IllegalArgumentException` with the invalid value.
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

  /// Returns the consistency that applies the pushes of a clock together.
  public static Consistency synchronous() {
    return new Consistency(0, 0);
  }

  /// Returns the synchronous consistency that does not wait for the last `workers` workers of a
  /// clock.
  public static Consistency backedUpBy(int workers) {
    return new Consistency(0, workers);
  }

  /// Returns the consistency in which a pull waits until the slowest worker is at most `clocks`
  /// clocks behind the pulling worker. Throws `IllegalArgumentException` for less than 1.
  public static Consistency bounded(int clocks) {
    if (clocks < 1) {
      throw new IllegalArgumentException(
          "bounded(%d): 1 clock or more; synchronous() is for none, asynchronous() for no bound"
              .formatted(clocks));
    }
    return new Consistency(clocks, 0);
  }

  /// Returns the consistency in which no pull waits.
  public static Consistency asynchronous() {
    return new Consistency(ASYNCHRONOUS, 0);
  }

  /// Returns whether the pushes of a clock are applied together.
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
