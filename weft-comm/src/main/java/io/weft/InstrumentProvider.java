// SPDX-License-Identifier: Apache-2.0
package io.weft;

import io.weft.agent.Ticker;
import java.util.Objects;
import java.util.ServiceLoader;

/// What a module brings that watches a rank from `Weft.init` until `Weft.close` because the
/// settings say so: its timeline, the port of its metrics. Found by the service loader: a public
/// class with a public constructor without arguments.
public interface InstrumentProvider {

  /// Opens the instrument of a rank that has just joined its job, and attaches it by
  /// `Weft.attached`, where the settings want one. All ranks of a job call this at the same point,
  /// so it may be collective, except on a rank that joins while the job runs. Throws
  /// `CommException.Setup` with what to change.
  ///
  /// @param clock of the progress thread
  void open(Weft weft, Ticker clock);

  /// Opens those of all modules on the class path.
  static void openAll(Weft weft, Ticker clock) {
    Objects.requireNonNull(clock, "clock");
    for (InstrumentProvider provider :
        ServiceLoader.load(InstrumentProvider.class, InstrumentProvider.class.getClassLoader())) {
      provider.open(weft, clock);
    }
  }
}
