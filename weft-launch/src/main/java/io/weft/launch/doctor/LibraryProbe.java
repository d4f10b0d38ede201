// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.doctor;

/// Loads native libraries in a process of its own, because one that does not fit can end it.
public final class LibraryProbe {

  private LibraryProbe() {}

  /// Loads the files named, in order; ends with exit code 1 and the reason where one cannot be.
  @SuppressWarnings("restricted") // Loading a library is what this program is for.
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
