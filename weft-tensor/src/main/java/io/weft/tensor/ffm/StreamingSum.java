// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.ffm;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The sum of two runs of binary32 for two places, divided by a number, stored past the caches: a
/// processor that stores to a line of its cache reads that line from memory first, which for runs
/// that no cache holds is a third of all traffic. The JVM's compiler has no such stores, so the
/// loop is machine code, of AVX2 (docs/adr/0064-long-sums-are-stored-past-the-caches.md).
public final class StreamingSum {

  /// Bytes that one turn of the loop stores to each place.
  public static final long STEP_BYTES = 64;

  /// Both places must lie at a multiple of so many bytes.
  public static final long ALIGNMENT_BYTES = 32;

  /// `void sum(float *into, float *also, const float *left, const float *right, uint64_t bytes,
  /// float divisor)`, by the System V calling convention: rdi, rsi, rdx, rcx, r8, xmm0. At least 64
  /// bytes, a multiple of 64. A sum that is NaN becomes the canonical NaN, as in all kernels. The
  /// last fence orders the stores before whatever says that they are there.
  private static final String LISTING =
      """
      c4 e2 7d 18 f0      vbroadcastss ymm6, xmm0
      b8 00 00 c0 7f      mov          eax, 0x7fc00000
      c5 f9 6e f8         vmovd        xmm7, eax
      c4 e2 7d 18 ff      vbroadcastss ymm7, xmm7
      31 c0               xor          eax, eax
      c5 fc 10 04 02      vmovups      ymm0, [rdx+rax]       ; loop
      c5 fc 10 4c 02 20   vmovups      ymm1, [rdx+rax+32]
      c5 fc 58 04 01      vaddps       ymm0, ymm0, [rcx+rax]
      c5 f4 58 4c 01 20   vaddps       ymm1, ymm1, [rcx+rax+32]
      c5 fc 5e c6         vdivps       ymm0, ymm0, ymm6
      c5 f4 5e ce         vdivps       ymm1, ymm1, ymm6
      c5 fc c2 d0 03      vcmpunordps  ymm2, ymm0, ymm0
      c5 f4 c2 d9 03      vcmpunordps  ymm3, ymm1, ymm1
      c4 e3 7d 4a c7 20   vblendvps    ymm0, ymm0, ymm7, ymm2
      c4 e3 75 4a cf 30   vblendvps    ymm1, ymm1, ymm7, ymm3
      c5 fc 2b 04 07      vmovntps     [rdi+rax], ymm0
      c5 fc 2b 4c 07 20   vmovntps     [rdi+rax+32], ymm1
      c5 fc 2b 04 06      vmovntps     [rsi+rax], ymm0
      c5 fc 2b 4c 06 20   vmovntps     [rsi+rax+32], ymm1
      48 83 c0 40         add          rax, 64
      4c 39 c0            cmp          rax, r8
      72 ad               jb           loop
      0f ae f8            sfence
      c5 f8 77            vzeroupper
      c3                  ret
      """;

  private static final FunctionDescriptor TYPE =
      FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_FLOAT);

  private static final @Nullable MethodHandle SUM =
      MachineCode.isKnownHere() ? MachineCode.function(LISTING, TYPE).orElse(null) : null;

  private StreamingSum() {}

  /// Whether this system and this Java let it run. The processor must have AVX2, which nobody looks
  /// for here.
  public static boolean isAllowed() {
    return SUM != null;
  }

  /// Sums. All but the last two are addresses, which nobody checks.
  ///
  /// Hot path.
  ///
  /// @param bytes at least `STEP_BYTES`, and a multiple of it
  /// @param divisor 1 leaves each sum as it is
  public static void sum(long into, long also, long left, long right, long bytes, float divisor) {
    try {
      Objects.requireNonNull(SUM).invokeExact(into, also, left, right, bytes, divisor);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("machine code threw", e);
    }
  }
}
