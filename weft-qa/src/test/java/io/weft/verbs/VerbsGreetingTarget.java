// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import io.weft.qa.fuzz.FuzzTarget;
import io.weft.verbs.device.Gid;
import io.weft.verbs.device.QueuePairAddress;
import io.weft.verbs.ring.VerbsFault;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/// The messages that a proved peer sends over TCP before and after its queue pair is connected. An
/// accepted message must be the same after encoding and decoding.
public final class VerbsGreetingTarget implements FuzzTarget {

  /// Creates the target. The fuzzer calls this constructor by reflection.
  public VerbsGreetingTarget() {}

  @Override
  public String name() {
    return "verbs-greeting";
  }

  @Override
  public List<byte[]> seeds() {
    Gid gid = new Gid(0, 0xfe80_0000_0000_0000L, 0x0000_ffff_0a4d_0001L, Gid.GidType.ROCE_V2);
    return List.of(
        bytes(
            new VerbsGreeting.Hello(
                17, new QueuePairAddress(18, 0x3e8fd2, 0, gid, 5), 1L << 40, 0x1234, 1 << 20, 128)),
        bytes(new VerbsGreeting.Decision("")),
        bytes(new VerbsGreeting.Decision("no room")),
        bytes(new VerbsGreeting.GracefulClose("a frame of unknown kind 9")));
  }

  private static byte[] bytes(VerbsGreeting greeting) {
    return greeting.encode().toArray(ValueLayout.JAVA_BYTE);
  }

  @Override
  public void decode(byte[] input) {
    try {
      VerbsGreeting first = VerbsGreeting.decode(MemorySegment.ofArray(input));
      VerbsGreeting again = VerbsGreeting.decode(first.encode());
      if (!again.equals(first)) {
        throw new AssertionError(first + " became " + again);
      }
    } catch (VerbsFault refused) {
      if (String.valueOf(refused.getMessage()).isBlank()) {
        throw new AssertionError("no message", refused);
      }
    }
  }
}
