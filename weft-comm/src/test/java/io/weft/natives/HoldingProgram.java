// SPDX-License-Identifier: Apache-2.0
package io.weft.natives;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;

/// A program that holds the lock of a directory until its input ends.
final class HoldingProgram {

  private HoldingProgram() {}

  public static void main(String[] args) {
    UnpackLock.alone(
        Path.of(args[0]),
        "a library",
        Duration.ofSeconds(60),
        () -> {
          System.out.println("holds");
          try {
            while (System.in.read() >= 0) {
              // continues
            }
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
  }
}
