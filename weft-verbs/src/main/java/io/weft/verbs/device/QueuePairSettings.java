// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.device;

/// How large a queue pair is and how patient.
///
/// @param sends work requests that may be posted to the send queue at a time
/// @param receives the same of the receive queue
/// @param inlineBytes payload that is taken along when a request is posted, wished; the device may
///   give more
/// @param timeout how long to wait for an answer: 4.096 us times two to this power, 1 to 31
/// @param retries how often to ask again for an answer, 0 to 7
/// @param receiverRetries how often to try again when the peer had no receive posted, 0 to 6, or 7
///   for ever
/// @param receiverWait code of the shortest time between these tries, 1 to 31 (12 is 0.64 ms)
public record QueuePairSettings(
    int sends,
    int receives,
    int inlineBytes,
    int timeout,
    int retries,
    int receiverRetries,
    int receiverWait) {

  private static final int MAX_RETRIES = 7;
  private static final int MAX_CODE = 31;

  /// Throws `IllegalArgumentException` if one is outside its range.
  public QueuePairSettings {
    within("sends", sends, 1, Integer.MAX_VALUE);
    within("receives", receives, 1, Integer.MAX_VALUE);
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
