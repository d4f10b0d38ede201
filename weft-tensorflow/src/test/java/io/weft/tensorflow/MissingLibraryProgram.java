// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import io.weft.comm.CommException;

/// The program that loads the ops where TensorFlow's native library is missing.
final class MissingLibraryProgram {

  private MissingLibraryProgram() {}

  public static void main(String[] args) {
    try {
      OpLibrary.load();
    } catch (CommException.Setup e) {
      System.out.println("Setup: " + e.getMessage());
    }
  }
}
