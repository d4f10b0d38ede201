// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.ffm;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// A copy that is stored past the caches: a processor that stores to a line which others hold in
/// their caches has them give it up first, one line after the other. The JVM's own copies do so
/// from 2.5 MiB on only, so the loop is machine code, of AVX2
/// (docs/adr/0073-what-peers-hold-is-stored-past-the-caches.md).
public final class StreamingCopy {

  /// Bytes that one turn of the loop stores.
  public static final long STEP_BYTES = 64;

  /// The place must lie at a multiple of so many bytes.
  public static final long ALIGNMENT_BYTES = 32;

  /// `void copy(void *to, const void *from, uint64_t bytes)`, by the System V calling convention:
  /// rdi, rsi, rdx. At least 64 bytes, a multiple of 64. The last fence orders the stores before
  /// whatever says that they are there.
  private static final String LISTING =
      """
      31 c0               xor          eax, eax
      c5 fc 10 04 06      vmovups      ymm0, [rsi+rax]       ; loop
      c5 fc 10 4c 06 20   vmovups      ymm1, [rsi+rax+32]
      c5 fc 2b 04 07      vmovntps     [rdi+rax], ymm0
      c5 fc 2b 4c 07 20   vmovntps     [rdi+rax+32], ymm1
      48 83 c0 40         add          rax, 64
      48 39 d0            cmp          rax, rdx
      72 e1               jb           loop
      0f ae f8            sfence
      c5 f8 77            vzeroupper
      c3                  ret
      """;

  private static final FunctionDescriptor TYPE =
      FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG, JAVA_LONG);

  private static final @Nullable MethodHandle COPY =
      MachineCode.isKnownHere() ? MachineCode.function(LISTING, TYPE).orElse(null) : null;

  private StreamingCopy() {}

  /// Whether this system and this Java let it run. The processor must have AVX2, which nobody looks
  /// for here.
  public static boolean isAllowed() {
    return COPY != null;
  }

  /// Copies between addresses, which nobody checks.
  ///
  /// Hot path.
  ///
  /// @param bytes at least `STEP_BYTES`, and a multiple of it
  public static void copy(long to, long from, long bytes) {
    try {
      Objects.requireNonNull(COPY).invokeExact(to, from, bytes);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("machine code threw", e);
    }
  }
}
