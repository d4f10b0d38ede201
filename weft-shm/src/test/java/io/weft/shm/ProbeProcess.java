// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import io.weft.transport.spi.Availability;

/// A process that prints whether its environment supports shared memory.
final class ProbeProcess {

  private ProbeProcess() {}

  public static void main(String[] args) {
    System.out.println(
        switch (new ShmProvider().probe()) {
          case Availability.Available(var devices) -> "available: " + devices.size();
          case Availability.Unavailable(String reason, String remedy) ->
              "unavailable: " + reason + "; " + remedy;
        });
  }
}
