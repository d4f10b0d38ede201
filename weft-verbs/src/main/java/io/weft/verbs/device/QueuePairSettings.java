// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.device;

/// The size and retry parameters of a queue pair.
///
/// @param sends maximum posted requests of the send queue
/// @param inlineBytes requested payload that posting copies; the device may allow more
/// @param timeout time to wait for an answer: 4.096 us times two to this power, 1 to 31
/// @param retries number of retries without an answer, 0 to 7
/// @param receiverRetries number of retries while the peer has no receive posted, 0 to 6, or 7 for
///   unlimited
/// @param receiverWait code of the shortest time between these retries, 1 to 31 (12 is 0.64 ms)
public record QueuePairSettings(
    int sends, int inlineBytes, int timeout, int retries, int receiverRetries, int receiverWait) {

  private static final int MAX_RETRIES = 7;
  private static final int MAX_CODE = 31;

  /// Throws `IllegalArgumentException` if a parameter is outside its range.
  public QueuePairSettings {
    within("sends", sends, 1, Integer.MAX_VALUE);
    within("inlineBytes", inlineBytes, 0, Integer.MAX_VALUE);
    within("timeout", timeout, 1, MAX_CODE);
    within("retries", retries, 0, MAX_RETRIES);
    within("receiverRetries", receiverRetries, 0, MAX_RETRIES);
    within("receiverWait", receiverWait, 1, MAX_CODE);
  }

  private static void within(String name, int value, int least, int most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          name + " is " + value + ", must be " + least + " to " + most);
    }
  }
}
