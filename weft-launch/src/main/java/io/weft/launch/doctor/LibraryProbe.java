// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.doctor;

/// Loads native libraries in a separate process, because an incompatible library can end its
/// process.
public final class LibraryProbe {

  private LibraryProbe() {}

  /// Loads the named files in order. Ends with exit code 1 and the reason if a file cannot be
  /// loaded.
  @SuppressWarnings("restricted") // The program's purpose is to load libraries.
  public static void main(String[] files) {
    try {
      for (String file : files) {
        System.load(file);
      }
    } catch (UnsatisfiedLinkError refused) {
      System.err.println(refused.getMessage());
      System.exit(1);
    }
  }
}
