// SPDX-License-Identifier: Apache-2.0
package io.weft;

import io.weft.agent.Ticker;
import java.util.Objects;
import java.util.ServiceLoader;

/// The factory of an instrument that watches a rank from `Weft.init` until `Weft.close`, such as
/// the timeline or the metrics port. The service loader finds it, so it must be a public class with
/// a public constructor without arguments.
public interface InstrumentProvider {

  /// Opens the instrument of a rank that has just joined its job, if the settings request it, and
  /// attaches it by `Weft.attached`. All ranks of a job call this method at the same point, so it
  /// may be collective, except on a rank that joins while the job runs. Throws
  /// `CommException.Setup` with a remedy.
  ///
  /// @param clock the clock of the progress thread
  void open(Weft weft, Ticker clock);

  /// Opens the instruments of all modules on the class path.
  static void openAll(Weft weft, Ticker clock) {
    Objects.requireNonNull(clock, "clock");
    for (InstrumentProvider provider :
        ServiceLoader.load(InstrumentProvider.class, InstrumentProvider.class.getClassLoader())) {
      provider.open(weft, clock);
    }
  }
}
