// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import io.weft.qa.fuzz.FuzzTarget;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/// A peer's announcement of its memory over TCP.
public final class GreetingTarget implements FuzzTarget {

  /// Creates the target. The fuzzer calls this constructor by reflection.
  public GreetingTarget() {}

  @Override
  public String name() {
    return "greeting";
  }

  @Override
  public List<byte[]> seeds() {
    return List.of(
        bytes(new ShmGreeting.Hello("boot pid:[1] name", 1L << 40, 3, -1, 7, Long.MIN_VALUE)),
        bytes(new ShmGreeting.Hello("", 1, 2, 3, 4, 5)),
        bytes(new ShmGreeting.Decision("")),
        bytes(new ShmGreeting.Decision("its memory cannot be mapped: not permitted")),
        bytes(new ShmGreeting.GracefulClose("a frame of unknown kind 9")),
        bytes(new ShmGreeting.Wake()));
  }

  private static byte[] bytes(ShmGreeting greeting) {
    return greeting.encode().toArray(ValueLayout.JAVA_BYTE);
  }

  @Override
  public void decode(byte[] input) {
    try {
      ShmGreeting greeting = ShmGreeting.decode(MemorySegment.ofArray(input));
      byte[] passedOn = bytes(greeting);
      if (passedOn.length > ShmGreeting.HELLO_BYTES + ShmGreeting.MAX_TEXT) {
        throw new AssertionError("is passed on in " + passedOn.length + " bytes");
      }
      ShmGreeting again = ShmGreeting.decode(MemorySegment.ofArray(passedOn));
      if (!again.equals(greeting)) {
        throw new AssertionError("is passed on as " + again + ", came as " + greeting);
      }
      check(greeting);
    } catch (ShmFault refused) {
      if (refused.getMessage() == null) {
        throw new AssertionError("no message", refused);
      }
    }
  }

  private static void check(ShmGreeting greeting) {
    String text =
        switch (greeting) {
          case ShmGreeting.Hello hello -> hello.host();
          case ShmGreeting.Decision verdict -> verdict.problem();
          case ShmGreeting.GracefulClose gracefulClose -> gracefulClose.reason();
          case ShmGreeting.Wake _ -> "";
        };
    if (text.chars().anyMatch(c -> c < ' ' || c > '~')) {
      throw new AssertionError("control characters come through: " + greeting);
    }
  }
}
