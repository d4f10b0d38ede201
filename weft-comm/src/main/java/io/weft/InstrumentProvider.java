// SPDX-License-Identifier: Apache-2.0
package io.weft;

/// The factory of an instrument. The service loader finds it, so it must be a public class with a
/// public constructor without arguments.
public interface InstrumentProvider {

  /// Opens the instrument of a rank that is connected and runs no operation yet. Throws
  /// `CommException.Setup` with a remedy.
  Instrument open(JoiningRank rank);
}
